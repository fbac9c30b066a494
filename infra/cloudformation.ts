/** A CloudFormation template's parts, as far as Fencepost writes them. */
export type Value = string | number | boolean | readonly Value[] | { readonly [name: string]: Value }

export interface Resource {
  readonly Type: string
  readonly Properties: Readonly<Record<string, Value>>
  readonly DeletionPolicy?: 'Delete' | 'Retain'
  readonly UpdateReplacePolicy?: 'Delete' | 'Retain'
}

export interface Parameter {
  readonly Type: string
  readonly Default: string
  readonly Description: string
}

export interface Output {
  readonly Description: string
  readonly Value: Value
}

export type Resources = Readonly<Record<string, Resource>>

export const ref = (logicalId: string): Value => ({ Ref: logicalId })
export const attribute = (logicalId: string, name: string): Value => ({ 'Fn::GetAtt': [logicalId, name] })
export const sub = (text: string): Value => ({ 'Fn::Sub': text })

/** A name as part of a logical id, which has letters and digits only. Different names stay different. */
export const idPart = (name: string): string =>
  `${name.charAt(0).toUpperCase()}${name.slice(1)}`.replaceAll('-', 'Dash').replaceAll('_', 'Underscore')

/** The logical id that the Serverless CLI gives to a function. */
export const functionId = (key: string): string => `${idPart(key)}LambdaFunction`
