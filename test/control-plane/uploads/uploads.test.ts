import { createHash, randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createUploads } from '../../../src/control-plane/records/uploads/uploads.ts'
import { memoryStore, type Store } from '../../../src/storage/index.ts'
import { openStorage } from '../../../src/storage/open.ts'
import { BACKENDS } from '../../kit/backends.ts'

const MIB = 1024 * 1024
const place = { deploymentId: crypto.randomUUID(), uploadId: crypto.randomUUID() }

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const read = async (body: ReadableStream<Uint8Array> | undefined) =>
  body && new Uint8Array(await new Response(body).arrayBuffer())

const kinds = [
  {
    name: 'memory',
    installed: () => true,
    async open() {
      const store = memoryStore()
      return { stores: [store, store] as const, close: () => store.close() }
    },
  },
  ...BACKENDS.map(({ name, installed, create }) => ({
    name,
    installed,
    async open() {
      const database = await create()
      const opened = await Promise.all([openStorage(database.url), openStorage(database.url)])
      await opened[0].setup()
      return {
        stores: opened.map(({ store }) => store) as unknown as readonly [Store, Store],
        async close() {
          for (const storage of opened) await storage.close()
          await database.remove()
        },
      }
    },
  })),
]

describe.each(kinds)('uploads in $name', ({ installed, open }) => {
  test.skipIf(!installed())(
    'are read by another instance, replaced as a whole, and removed',
    async () => {
      const { stores, close } = await open()
      try {
        const [one, two] = stores.map((store) => createUploads(store, Date.now)) as [
          ReturnType<typeof createUploads>,
          ReturnType<typeof createUploads>,
        ]
        const large = new Uint8Array(randomBytes(5 * MIB + 7))
        // In pieces as a socket gives them.
        const pieces = new ReadableStream<Uint8Array>({
          start(controller) {
            for (let at = 0; at < large.length; at += 65_536)
              controller.enqueue(large.subarray(at, at + 65_536))
            controller.close()
          },
        })
        await one.put(place, 'acme', large.length, pieces)
        expect(digestOf((await read(await two.open(place)))!)).toBe(digestOf(large))

        const small = new TextEncoder().encode('small')
        await two.put(place, 'acme', small.length, new Blob([small]).stream())
        expect(await read(await one.open(place))).toEqual(small)

        const lost = new ReadableStream<Uint8Array>({
          pull(controller) {
            controller.enqueue(new Uint8Array(2 * MIB))
            controller.error(new Error('The client is gone.'))
          },
        })
        await expect(one.put(place, 'acme', 3 * MIB, lost)).rejects.toThrow('The client is gone.')
        expect(await two.open(place)).toBeUndefined()
        expect(await two.take(place)).toBe(false)

        await one.put(place, 'acme', small.length, new Blob([small]).stream())
        expect(await two.take(place)).toBe(true)
        await expect(one.put(place, 'acme', 1, new Blob(['x']).stream())).rejects.toThrow(
          'A revision was already created',
        )
        await two.removeAll(place.deploymentId)
        expect(await one.open(place)).toBeUndefined()
      } finally {
        await close()
      }
    },
    60_000,
  )
})
