import { bunSockets } from '../../src/index.ts'
import { mounts } from './mounts.ts'

declare const Bun: { serve(options: object): { readonly port: number } }

const { port } = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: mounts(), websocket: bunSockets })
console.log(`http://127.0.0.1:${port}`)
