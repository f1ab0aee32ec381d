import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import buildPackage from '../package/build.ts'
import { entries, root } from '../package/package.ts'
import { type Bench, median, runAlone, takeTurns } from './support/report.ts'

/**
 * Measures the first answers of a fresh process from the end of its imports: the server is created, listens, and
 * answers over HTTP. The client writes bytes, so that it adds little. A bare server of node:http is the floor.
 */

const ROUNDS = 10
const TARGET_MS = 100

const fileOf = (specifier: string): string =>
  JSON.stringify(join(root, entries.find((entry) => entry.specifier === specifier)!.files.esm.default))

const OURS = `
import { createAgentServer, defineAgent } from ${fileOf('agentwire')}
import { serve } from ${fileOf('agentwire/node')}
const agent = defineAgent({ run: ({ message }) => message('Hello there') })
const begin = marked()
const { port } = await serve(createAgentServer({ agents: { agent }, authenticate: () => ({ id: 'ada' }) }), { port: 0, silent: true })`

const BARE = `
import { createServer } from 'node:http'
const begin = marked()
const server = createServer((request, response) => {
  request.resume().on('end', () => response.end('"type":"success"'))
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address()`

const MARKED = `
import { connect } from 'node:net'
const marked = () => ({ at: performance.now(), cpu: process.cpuUsage() })`

const ASK = `
const answer = await new Promise((resolve, reject) => {
  const socket = connect(port, '127.0.0.1', () => socket.write(sent))
  let text = ''
  socket.on('data', (data) => {
    text += data
    if (text.includes(wanted)) resolve(text)
  })
  socket.on('error', reject)
})
const { user, system } = process.cpuUsage(begin.cpu)
console.log(JSON.stringify({ ms: performance.now() - begin.at, cpu: (user + system) / 1000 }))
process.exit()`

const BODY = JSON.stringify({
  id: 1,
  method: 'run.start',
  params: { assistant_id: 'agent', input: { messages: [{ role: 'user', content: 'Hello' }] } },
})
const OK = ['GET /ok HTTP/1.1', 'host: 127.0.0.1', '', ''].join('\r\n')
const RUN = [
  'POST /threads/t/commands HTTP/1.1',
  'host: 127.0.0.1',
  'content-type: application/json',
  `content-length: ${BODY.length}`,
  '',
  BODY,
].join('\r\n')

const measured =
  (server: string, sent: string, wanted: string, results: { ms: number; cpu: number }[]) => async () => {
    const code = `${MARKED}${server}\nconst [sent, wanted] = ${JSON.stringify([sent, wanted])}${ASK}`
    const result = JSON.parse(
      execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' }),
    )
    results.push(result)
    return result.ms
  }

export const firstRequest: Bench = async () => {
  buildPackage()
  const results = {
    ok: [] as { ms: number; cpu: number }[],
    run: [] as { ms: number; cpu: number }[],
    bare: [] as { ms: number; cpu: number }[],
  }
  await takeTurns(ROUNDS, {
    ok: measured(OURS, OK, '200 OK', results.ok),
    run: measured(OURS, RUN, '"type":"success"', results.run),
    bare: measured(BARE, RUN, '"type":"success"', results.bare),
  })
  const shown = (of: 'ms' | 'cpu', name: keyof typeof results): number =>
    median(results[name].map((result) => result[of]))
  const row = (bench: string, name: 'ok' | 'run', of: 'ms' | 'cpu') => ({
    bench,
    ours: `${shown(of, name).toFixed(0)} ms`,
    peer: `${shown(of, 'bare').toFixed(0)} ms`,
    ratio: '',
    target: of === 'ms' ? `<= ${TARGET_MS} ms` : '',
    ...(of === 'ms' && { met: shown(of, name) <= TARGET_MS }),
  })
  return [
    row('the first answer after the import, of GET /ok, vs node:http', 'ok', 'ms'),
    row('the same: CPU', 'ok', 'cpu'),
    row('the first answer after the import, of run.start', 'run', 'ms'),
    row('the same: CPU', 'run', 'cpu'),
  ]
}

await runAlone(import.meta.url, firstRequest)
