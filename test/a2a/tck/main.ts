/**
 * The agent `tck` for a run of a public A2A compatibility kit against `/a2a/tck`. Webhooks may be on this machine, where the kit
 * receives them. The kit for 1.0 reads no cards but of 1.0.
 *
 *     npx tsx test/a2a/tck/main.ts 1.0     (or 0.3; PORT is 3000)
 */
import { serve } from '../../../adapters/node.ts'
import { createTckServer } from './server.ts'

const version = process.argv[2] === '0.3' ? '0.3' : '1.0'
const { origin } = await serve(createTckServer(version), {
  port: Number(process.env.PORT ?? 3000),
  silent: true,
})
console.log(`The kit for A2A ${version} may ask ${origin}/a2a/tck. Ctrl-C stops it.`)
