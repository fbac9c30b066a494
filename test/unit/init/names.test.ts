import { expect, test } from 'vitest'
import { nameProblems } from '../../../lib/init/names.ts'

const pathsFor = (service: string, relay: string) => nameProblems({ service, relay }).map(({ path }) => path)

test('names that a stack, a package, a function and a transactional id can have are taken', () => {
  expect(pathsFor('my-relay', 'my-relay')).toEqual([])
  expect(pathsFor('a', 'Large_Orders-2')).toEqual([])
})

test.each(['', 'My-relay', 'my_relay', '2relays', '-relay', 'my relay', 'my.relay', 'é', 'a'.repeat(41)])(
  'a folder %j is refused: no stack or package can have that name',
  (service) => expect(pathsFor(service, 'orders')).toContain('the name of the folder'),
)

test.each(['', 'a.b', 'a/b', '../up', 'orders-redrive', "it's", '$' + '{x}'])(
  'a relay %j is refused: it would be no part of a transactional id',
  (relay) => expect(pathsFor('shop', relay)).toEqual(['--relay']),
)

test('together they fit into the name of a function, to the character', () => {
  expect(pathsFor('a'.repeat(40), 'b'.repeat(7))).toEqual([])
  expect(pathsFor('a'.repeat(40), 'b'.repeat(8))).toEqual(['the name of the folder with that of the relay'])
  const name = `${'a'.repeat(40)}-12345678-${'b'.repeat(7)}-status`
  expect(name).toHaveLength(64)
})
