/** Stands for Bun and Deno on Node: serves the `fetch` that a module exports, as they do. */
import { createServer } from 'node:http'
import { pathToFileURL } from 'node:url'
import { toNode } from 'agentwire/node'
import { openServer } from '../kit/listen.ts'

const { default: exported } = await import(pathToFileURL(process.argv[2]!).href)
const handler = {
  fetch: exported.fetch,
  handle: exported.fetch,
  routes: async () => [],
  close: async () => {},
}
const { origin } = await openServer(createServer(toNode(handler)))
console.log(origin)
