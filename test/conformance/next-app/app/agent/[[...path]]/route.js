import { adapterProbe, toNext } from '../../../.tmp/agentwire.mjs'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = toNext(adapterProbe(), { basePath: '/agent' })
