import { once } from 'node:events'
import { createServer } from 'node:http'
import { sharedNow } from '../support/clock.ts'
import { type BareClient, openBareClient } from '../support/storage/bare-client.ts'
import { serveCalls } from './process.ts'

/** The bare client of a database in a process of its own, which reads the appends of which it is notified, or sends all rows to a socket. */

const client: BareClient = await openBareClient(process.env.STORAGE_URL!)
const arrivals: number[] = []

/** Records from now on when each row was read. */
async function watch(): Promise<void> {
  let after = (await client.read(0)).at(-1)?.seq ?? 0
  let reading: Promise<void> | undefined
  const read = async (): Promise<void> => {
    for (const { seq } of await client.read(after)) {
      after = seq
      arrivals.push(sharedNow())
    }
  }
  await client.watch(() => {
    reading = (reading ?? Promise.resolve()).then(read)
  })
}

const server = createServer((req, res) => {
  req.resume()
  res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  // The reader takes this for the beginning of a stream.
  res.write(': ok\n\n')
  replay().catch((error) => res.destroy(error))

  async function replay(): Promise<void> {
    for (const { data } of await client.read(0)) if (!res.write(data)) await once(res, 'drain')
  }
})

await serveCalls(server, { watch, arrivals: () => arrivals })
