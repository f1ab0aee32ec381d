import { Agent, get } from 'node:http'
import { type Bench, least, median, type Row, runAlone, takeTurns, times } from './support/report.ts'
import { type Server, withServers } from './support/server.ts'

/** Measures the control plane: a deployment, a request for a revision, and clients that wait for a change of one. */

const DEPLOYS = 24
const GETS = 2_000
const GETS_OVER_HTTP = 500
const ROUNDS = 14
const POLLERS = 200
const WAIT_MS = 5_000

const connections = new Agent({ keepAlive: true, maxSockets: 1 })

function getOverHttp(port: number, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path, agent: connections }, (response) => {
      response.resume()
      response.on('end', resolve)
    }).on('error', reject)
  })
}

/** Microseconds of the server's CPU time for each request over a kept connection. */
async function getsOverHttp(server: Server, port: number, path: string): Promise<number> {
  const before = await server.cpu()
  for (let i = 0; i < GETS_OVER_HTTP; i++) await getOverHttp(port, path)
  return ((await server.cpu()) - before) / GETS_OVER_HTTP
}

/** The rounds of a young process, whose code is still compiled, do not count. */
const warm = (values: readonly number[]): number => median(values.slice(3))

function row(bench: string, unit: string, ours: number, peer: number, target: number): Row {
  const ratio = ours / peer
  return {
    bench,
    ours: `${ours.toFixed(1)} ${unit}`,
    peer: `${peer.toFixed(1)} ${unit}`,
    ratio: times(ratio),
    target: `<= ${times(target)}`,
    met: ratio <= target,
  }
}

export const controlPlane: Bench = () =>
  withServers(['control-plane'], async (server) => {
    const deployed = await takeTurns(DEPLOYS, {
      ours: () => server.call<number>('deploy'),
      byHand: () => server.call<number>('startByHand'),
    })
    const path = await server.call<string>('createDeployed')
    const gets = (by: 'ours' | 'bare') => () => server.call<number>('gets', { by, path, times: GETS })
    const got = await takeTurns(ROUNDS, { ours: gets('ours'), bare: gets('bare') })
    const barePort = await server.call<number>('barePort')
    const gotOverHttp = await takeTurns(ROUNDS, {
      ours: () => getsOverHttp(server, server.port, path),
      bare: () => getsOverHttp(server, barePort, path),
    })
    const wait = (pollers: number) =>
      server.call<{ readonly cpuMs: number; readonly lastMs: number }>('wait', { pollers, ms: WAIT_MS })
    await wait(1)
    const [one, all] = [await wait(1), await wait(POLLERS)]
    return [
      row(
        'POST to DEPLOYED, vs starting the same child',
        'ms',
        least(deployed.ours),
        least(deployed.byHand),
        1.2,
      ),
      row('GET of a revision, vs a bare fetch handler', 'us', warm(got.ours), warm(got.bare), 1.7),
      row('the same over the Node adapter', 'us', warm(gotOverHttp.ours), warm(gotOverHttp.bare), 1.7),
      {
        bench: `CPU time of ${WAIT_MS / 1_000} s with ${POLLERS} clients that wait, vs with one`,
        ours: `${all.cpuMs.toFixed(1)} ms`,
        peer: `${one.cpuMs.toFixed(1)} ms`,
        ratio: '',
        target: '<= +50 ms',
        met: all.cpuMs - one.cpuMs <= 50,
      },
      {
        bench: `from the end of the work to the answer of the last of ${POLLERS}, vs of one`,
        ours: `${all.lastMs.toFixed(1)} ms`,
        peer: `${one.lastMs.toFixed(1)} ms`,
        ratio: '',
        target: '',
      },
    ]
  })

await runAlone(import.meta.url, controlPlane)
