import { type Bench, least, type Row, runAlone, takeTurns, times } from './support/report.ts'
import { withServers } from './support/server.ts'

/** Measures the CPU time of runs over AG-UI against the same runs over the streaming protocol, with the same channels. */

const ROUNDS = 12
const TARGET = 1.3
const CHANNELS = ['lifecycle', 'messages', 'tools', 'values', 'input', 'custom']

export const agUi: Bench = () =>
  withServers(['ours'], async (server) => {
    const rows: Row[] = []
    for (const [name, assistantId, say, runs] of [
      ['an echo graph', 'echoGraph', 'The quick brown fox jumps over the lazy dog.', 50],
      ['a graph of 200 tokens', 'tokens', '200', 5],
      ['a graph of 2,000 tokens', 'tokens', '2000', 1],
    ] as const) {
      const asked = { assistantId, say, times: runs }
      const cpu = await takeTurns(ROUNDS, {
        face: () => server.call<number>('agUiRuns', asked),
        protocol: () => server.call<number>('shortRuns', { ...asked, channels: CHANNELS }),
      })
      const ratio = least(cpu.face) / least(cpu.protocol)
      rows.push({
        bench: `AG-UI: a run of ${name}, vs the protocol`,
        ours: `${least(cpu.face).toFixed(0)} us`,
        peer: `${least(cpu.protocol).toFixed(0)} us`,
        ratio: times(ratio),
        target: `<= ${times(TARGET)}`,
        met: ratio <= TARGET,
      })
    }
    return rows
  })

await runAlone(import.meta.url, agUi)
