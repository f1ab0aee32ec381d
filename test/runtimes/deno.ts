import { mounts } from './mounts.ts'

declare const Deno: { serve(options: object, fetch: (request: Request) => Promise<Response>): unknown }

const onListen = ({ port }: { readonly port: number }) => console.log(`http://127.0.0.1:${port}`)
Deno.serve({ port: 0, hostname: '127.0.0.1', onListen }, mounts())
