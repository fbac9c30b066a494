import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  correlationIdOf,
  decodeResponseFrame,
  encodeRequestFrame,
  FrameSplitter,
} from '../../../../lib/kafka/protocol/frame.ts'
import { type Api, apis, type RequestOf } from '../../../../lib/kafka/protocol/generated/index.ts'
import { MalformedMessage } from '../../../../lib/kafka/protocol/reader.ts'
import { Writer } from '../../../../lib/kafka/protocol/writer.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(/\s/g, ''), 'hex')

function requestBytes<A extends Api>(api: A, version: number, body: RequestOf<A>): Buffer {
  return Buffer.concat(encodeRequestFrame({ api, version, correlationId: 7, clientId: 'fence', body }))
}

/** Worked out by hand from Kafka's protocol guide; brokers answered each of them. */
describe('requests have exactly these bytes', () => {
  test('ApiVersions 3: flexible header and body', () => {
    const body = { clientSoftwareName: 'fencepost', clientSoftwareVersion: '1' }
    expect(requestBytes('ApiVersions', 3, body)).toEqual(
      hex('0000001d 0012 0003 00000007 0005 66656e6365 00 0a 66656e6365706f7374 02 31 00'),
    )
  })

  test('Metadata 12: topic ids that are not given are zero', () => {
    const body = {
      topics: [{ name: 'gold' }],
      allowAutoTopicCreation: false,
      includeTopicAuthorizedOperations: false,
    }
    expect(requestBytes('Metadata', 12, body)).toEqual(
      hex('0000002a 0003 000c 00000007 0005 66656e6365 00 02 00000000000000000000000000000000 05 676f6c64 00 00 00 00'),
    )
  })

  test('OffsetDelete 0: the older header and plain strings and arrays', () => {
    const body = { groupId: 'g', topics: [{ name: 'gold', partitions: [{ partitionIndex: 0 }] }] }
    expect(requestBytes('OffsetDelete', 0, body)).toEqual(
      hex('00000024 002f 0000 00000007 0005 66656e6365 0001 67 00000001 0004 676f6c64 00000001 00000000'),
    )
  })

  test('Produce 12: the records stand there untouched', () => {
    const records = Buffer.from('not really records')
    const topicData = [{ name: 't', partitionData: [{ index: 3, records }] }]
    expect(requestBytes('Produce', 12, { transactionalId: 'lane', acks: -1, timeoutMs: 1_000, topicData })).toEqual(
      Buffer.concat([
        hex('00000039 0000 000c 00000007 0005 66656e6365 00 05 6c616e65 ffff 000003e8 02 02 74 02 00000003 13'),
        records,
        hex('00 00 00'),
      ]),
    )
  })
})

/** Captured from Kafka 4.1.0. */
describe('answers of a broker are read', () => {
  test('Metadata 12: a topic that exists and one that does not', () => {
    const frame = hex(`00000007 00 00000000 02 00000001 0a 3132372e302e302e31 000071a4 00 00
      17 4a4e68546f7374595362754b7063415a554c6f6b3551 00000001 03
      0000 05 676f6c64 0eb37db11a1d449898fb33b6dea57e8d 00 02
        0000 00000000 00000001 00000000 02 00000001 02 00000001 01 00 80000000 00
      0003 05 6e6f6e65 00000000000000000000000000000000 00 01 80000000 00 00`)
    const answer = decodeResponseFrame('Metadata', 12, frame)
    expect(answer).toMatchObject({
      clusterId: 'JNhTostYSbuKpcAZULok5Q',
      controllerId: 1,
      brokers: [{ nodeId: 1, host: '127.0.0.1', port: 29092, rack: null }],
    })
    expect(answer.topics).toMatchObject([
      { errorCode: 0, name: 'gold', topicId: '0eb37db1-1a1d-4498-98fb-33b6dea57e8d' },
      { errorCode: 3, name: 'none', partitions: [] },
    ])
    expect(answer.topics[0]?.partitions).toEqual([
      {
        errorCode: 0,
        partitionIndex: 0,
        leaderId: 1,
        leaderEpoch: 0,
        replicaNodes: [1],
        isrNodes: [1],
        offlineReplicas: [],
      },
    ])
  })

  test('ApiVersions 3: the older response header, finalized features in a tagged field', () => {
    const frame = hex(
      `00000007 0000 02 0000 0003 000d 00 00000000 02
      01 08 00000000000007ae
      02 1a 02 14 7472616e73616374696f6e2e76657273696f6e 0002 0002 00`,
    )
    const answer = decodeResponseFrame('ApiVersions', 3, frame)
    expect(answer).toMatchObject({
      apiKeys: [{ apiKey: 0, minVersion: 3, maxVersion: 13 }],
      finalizedFeaturesEpoch: 1966n,
      finalizedFeatures: [{ name: 'transaction.version', maxVersionLevel: 2, minVersionLevel: 2 }],
    })
  })

  test('FindCoordinator 4, InitProducerId 4 and OffsetDelete 0', () => {
    const found = hex('00000007 00 00000000 02 05 6c616e65 00000001 0a 3132372e302e302e31 000071a4 0000 01 00 00')
    expect(decodeResponseFrame('FindCoordinator', 4, found).coordinators).toEqual([
      { key: 'lane', nodeId: 1, host: '127.0.0.1', port: 29092, errorCode: 0, errorMessage: '' },
    ])
    const loading = hex('00000007 00 00000000 000e ffffffffffffffff ffff 00')
    expect(decodeResponseFrame('InitProducerId', 4, loading)).toMatchObject({ errorCode: 14, producerId: -1n })
    const refused = hex('00000007 0010 00000000 00000000')
    expect(decodeResponseFrame('OffsetDelete', 0, refused)).toEqual({ errorCode: 16, throttleTimeMs: 0, topics: [] })
  })

  test('a Fetch answer, its records a view into the frame', () => {
    const writer = new Writer()
    writer.int32(7)
    writer.tags()
    writer.int32(0)
    writer.int16(0)
    writer.int32(0)
    writer.compactArray(['0eb37db1-1a1d-4498-98fb-33b6dea57e8d'], (topicId) => {
      writer.uuid(topicId)
      writer.compactArray([2], (partition) => {
        writer.int32(partition)
        writer.int16(0)
        for (const offset of [10n, 9n, 1n]) writer.int64(offset)
        writer.compactArray([4n], (producerId) => {
          writer.int64(producerId)
          writer.int64(5n)
          writer.tags()
        })
        writer.int32(-1)
        writer.compactBytes(Buffer.from('records'))
        writer.tags([[1, (w) => [w.int32(3), w.int32(8), w.tags()]]])
      })
      writer.tags()
    })
    writer.tags([[0, (w) => w.compactArray([], () => undefined)]])
    const frame = Buffer.concat(writer.finish())
    const partition = decodeResponseFrame('Fetch', 16, frame).responses[0]?.partitions[0]
    expect(partition).toMatchObject({
      partitionIndex: 2,
      highWatermark: 10n,
      lastStableOffset: 9n,
      logStartOffset: 1n,
      abortedTransactions: [{ producerId: 4n, firstOffset: 5n }],
      currentLeader: { leaderId: 3, leaderEpoch: 8 },
      divergingEpoch: { epoch: -1, endOffset: -1n },
      preferredReadReplica: -1,
    })
    expect(partition?.records?.buffer).toBe(frame.buffer)
    expect(String(partition?.records)).toBe('records')
  })
})

describe('malformed answers', () => {
  test('end in MalformedMessage wherever they are cut', () => {
    const whole = hex('00000007 00 00000000 02 05 6c616e65 00000001 0a 3132372e302e302e31 000071a4 0000 01 00 00')
    for (let length = 4; length < whole.length; length++) {
      const cut = whole.subarray(0, length)
      expect(() => decodeResponseFrame('FindCoordinator', 4, cut)).toThrow(MalformedMessage)
    }
  })

  test('whatever the bytes, every API reads them to an answer or to MalformedMessage', () => {
    const anyApi = fc.constantFrom(...Object.values(apis))
    fc.assert(
      fc.property(anyApi, fc.uint8Array({ minLength: 4, maxLength: 400 }), ({ name, versions }, bytes) => {
        try {
          decodeResponseFrame(name, versions.max, Buffer.from(bytes))
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedMessage)
        }
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('a version without a field', () => {
  const fetch = { maxWaitMs: 1, minBytes: 1, topics: [], forgottenTopicsData: [] }

  test('refuses a value for it', () => {
    expect(() => requestBytes('Fetch', 15, { ...fetch, replicaId: 3 })).toThrow(
      'FetchRequest.replicaId is not known in version 15',
    )
    expect(requestBytes('Fetch', 14, { ...fetch, replicaId: 3 })).toContain(3)
  })

  test('takes its default', () => {
    expect(requestBytes('Fetch', 15, { ...fetch, replicaId: -1 })).toEqual(requestBytes('Fetch', 15, fetch))
  })
})

describe('FrameSplitter', () => {
  const frameOf = (payload: Buffer) => {
    const length = Buffer.alloc(4)
    length.writeInt32BE(payload.length)
    return Buffer.concat([length, payload])
  }

  test('gives the same frames however the stream is cut', () => {
    const payloads = fc.array(fc.uint8Array({ minLength: 4, maxLength: 60 }), { maxLength: 8 })
    fc.assert(
      fc.property(payloads, fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (wanted, sizes) => {
        const stream = Buffer.concat(wanted.map((payload) => frameOf(Buffer.from(payload))))
        const splitter = new FrameSplitter()
        const frames: number[][] = []
        for (let at = 0, turn = 0; at < stream.length; turn++) {
          const end = at + (sizes[turn % sizes.length] ?? 1)
          splitter.push(stream.subarray(at, end), (frame) => frames.push([...frame]))
          at = end
        }
        expect(frames).toEqual(wanted.map((payload) => [...payload]))
      }),
    )
  })

  test('gives the same frames when each is read right into its place, from one buffer that is used again and again', () => {
    const payloads = fc.array(fc.uint8Array({ minLength: 4, maxLength: 60 }), { maxLength: 8 })
    fc.assert(
      fc.property(payloads, fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (wanted, sizes) => {
        const stream = Buffer.concat(wanted.map((payload) => frameOf(Buffer.from(payload))))
        const [splitter, scratch] = [new FrameSplitter(), Buffer.alloc(16)]
        const frames: Buffer[] = []
        for (let at = 0, turn = 0; at < stream.length; turn++) {
          const room = splitter.room ?? scratch
          const read = stream.copy(room, 0, at, at + (sizes[turn % sizes.length] ?? 1))
          splitter.push(room.subarray(0, read), (frame) => frames.push(frame))
          at += read
        }
        expect(frames.map((frame) => [...frame])).toEqual(wanted.map((payload) => [...payload]))
      }),
    )
  })

  test('refuses what no Kafka broker sends: a TLS alert, an HTTP answer, a negative length', () => {
    for (const bytes of [hex('15030300020246'), Buffer.from('HTTP/1.1 400'), hex('ffffffff')]) {
      expect(() => new FrameSplitter().push(bytes, () => undefined)).toThrow(MalformedMessage)
    }
  })

  test('finds the correlation id', () => {
    expect(correlationIdOf(hex('00000102 ff'))).toBe(258)
  })
})
