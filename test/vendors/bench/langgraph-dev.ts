import { fileURLToPath } from 'node:url'
import { startServer } from '@langchain/langgraph-api/server'
import { answerCalls } from '../../bench/servers/process.ts'

/** LangGraph's dev server for JavaScript, with as many workers as its command starts, and with its log turned off. */

const { host } = await startServer({
  port: 0,
  host: '127.0.0.1',
  nWorkers: 10,
  cwd: fileURLToPath(new URL('.', import.meta.url)),
  graphs: { echoGraph: './agents.mjs:echoGraph' },
} as Parameters<typeof startServer>[0])

answerCalls({ port: () => Number(host.split(':').at(-1)) })
