import { closeServers } from '../kit/served.ts'

// #region server
import { serve } from '@hono/node-server'
import { createAgentServer, defineAgent } from 'agentwire'
import { toHono } from 'agentwire/hono'
import { Hono } from 'hono'

const agent = defineAgent({ run: ({ message }) => message('Hello there') })
const app = new Hono()
app.route('/agents', toHono(createAgentServer({ agents: { agent } })))
serve({ fetch: app.fetch, port: 3000 })
// #endregion

closeServers()
