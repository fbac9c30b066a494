import { expect, test } from 'vitest'
import { schemaRegistry } from '../../../../lib/codecs/registry/http-registry.ts'

test('a URL that holds a login is refused at once, and no message shows it', async () => {
  const ask = async () => {
    const registry = schemaRegistry({ url: 'http://relay:pa55word@127.0.0.1:1/registry' })
    await registry.byId(1, new AbortController().signal)
  }
  const error: Error = await ask().then(
    () => new Error('it was accepted'),
    (error) => error,
  )
  expect(error).toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('FENCEPOST_REGISTRY_PASSWORD'),
  })
  expect(`${error.message} ${JSON.stringify(error)} ${String(error.cause)}`).not.toContain('pa55word')
})
