import { serve } from '../../../adapters/node.ts'
import type { AdapterTarget } from '../../../src/audit/index.ts'
import { connect } from '../connect.ts'
import { allBut } from './capabilities.ts'

export const node: AdapterTarget = {
  name: 'node-http',
  can: allBut('mount', 'fall-through', 'host-headers'),
  connect,
  start: (handler, { trustProxy }) =>
    serve(handler, { silent: true, port: 0, host: '127.0.0.1', trustProxy, onError() {} }),
}
