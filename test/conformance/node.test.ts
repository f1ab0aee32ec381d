import { audit } from './audit.ts'
import { inProcess } from './targets/fetch.ts'
import { http2 } from './targets/http2.ts'
import { node } from './targets/node.ts'

for (const target of [inProcess, node, http2]) audit(target)
