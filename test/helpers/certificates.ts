/** X.509 certificates for tests, made here: a certificate authority and what it signs, good or bad on purpose. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

export interface Certificate {
  /** PEM; what the broker or client shows. */
  readonly certificate: string
  /** PEM, PKCS 8. */
  readonly privateKey: string
}

export interface Authority extends Certificate {
  issue(to: Subject): Certificate
}

export interface Subject {
  readonly name: string
  /** Names under which a broker may be reached. */
  readonly hosts?: readonly string[]
  readonly ips?: readonly string[]
  /** Default: from an hour ago to tomorrow. */
  readonly validUntil?: Date
}

const hourMs = 3_600_000

export function certificateAuthority(name: string): Authority {
  const keys = keyPair()
  const self = certificateOf({ subject: { name }, subjectKey: keys, issuer: name, issuerKey: keys, isAuthority: true })
  return {
    ...self,
    issue(subject) {
      return certificateOf({ subject, subjectKey: keyPair(), issuer: name, issuerKey: keys, isAuthority: false })
    },
  }
}

interface KeyPair {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

const keyPair = (): KeyPair => generateKeyPairSync('ec', { namedCurve: 'P-256' })

interface Order {
  readonly subject: Subject
  readonly subjectKey: KeyPair
  readonly issuer: string
  readonly issuerKey: KeyPair
  readonly isAuthority: boolean
}

/** RFC 5280, section 4.1. */
function certificateOf({ subject, subjectKey, issuer, issuerKey, isAuthority }: Order): Certificate {
  const until = subject.validUntil ?? new Date(Date.now() + 24 * hourMs)
  const from = new Date(Math.min(Date.now(), until.getTime()) - hourMs)
  const toBeSigned = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    nameOf(issuer),
    sequence(utcTime(from), utcTime(until)),
    nameOf(subject.name),
    subjectKey.publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(...extensionsOf(subject, isAuthority))),
  )
  const signature = sign('sha256', toBeSigned, issuerKey.privateKey)
  return {
    certificate: pem('CERTIFICATE', sequence(toBeSigned, ecdsaWithSha256, bitString(signature))),
    privateKey: subjectKey.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

function extensionsOf({ hosts = [], ips = [] }: Subject, isAuthority: boolean): readonly Buffer[] {
  const basic = sequence(
    oid(0x55, 0x1d, 0x13),
    octets(sequence(...(isAuthority ? [tagged(0x01, Buffer.from([0xff]))] : []))),
  )
  const names = [
    ...hosts.map((host) => tagged(0x82, Buffer.from(host))),
    ...ips.map((ip) => tagged(0x87, Buffer.from(ip.split('.').map(Number)))),
  ]
  return names.length === 0 ? [basic] : [basic, sequence(oid(0x55, 0x1d, 0x11), octets(sequence(...names)))]
}

const tagged = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content])
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length])
  return length < 0x100 ? Buffer.from([0x81, length]) : Buffer.from([0x82, length >> 8, length & 0xff])
}

const sequence = (...parts: readonly Buffer[]): Buffer => tagged(0x30, ...parts)
const integer = (bytes: Buffer): Buffer => tagged(0x02, bytes)
const octets = (bytes: Buffer): Buffer => tagged(0x04, bytes)
const bitString = (bytes: Buffer): Buffer => tagged(0x03, Buffer.from([0]), bytes)
const oid = (...bytes: readonly number[]): Buffer => tagged(0x06, Buffer.from(bytes))
const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02))
const nameOf = (commonName: string): Buffer =>
  sequence(tagged(0x31, sequence(oid(0x55, 0x04, 0x03), tagged(0x0c, Buffer.from(commonName)))))
const utcTime = (date: Date): Buffer =>
  tagged(0x17, Buffer.from(`${date.toISOString().slice(2, 19).replaceAll(/[-:T]/g, '')}Z`))

const pem = (label: string, bytes: Buffer): string => {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}
