import assert from 'node:assert/strict'
import { closeServers, origin } from '../kit/served.ts'

// #region thread-metadata
import { trace } from '@opentelemetry/api'
import { expressThreadMetadata } from 'agentwire/thread-metadata' // or fastify…, hono…, next…
import express from 'express'

const app = express()
app.use(expressThreadMetadata({ attach: (attributes) => trace.getActiveSpan()?.setAttributes(attributes) }))
app.listen(3000)
// #endregion

assert.equal((await fetch(await origin())).status, 404)
closeServers()
