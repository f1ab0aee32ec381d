/** Runs clients of examples against one server, and prints how each has ended. In one process, because loading the SDK costs the most. */
import { pathToFileURL } from 'node:url'

const clients = process.argv.splice(3)
for (const client of clients) {
  const outcome = await import(pathToFileURL(client).href).then(
    () => 'It found nothing wrong.',
    (error: Error) => error.name,
  )
  console.log(`${client} ${outcome}`)
}
process.exit() // A client that has failed leaves its stream open.
