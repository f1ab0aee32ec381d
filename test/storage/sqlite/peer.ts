import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { bundleOf } from '../../kit/bundle.ts'

/** Opens the storage, sets it up, and appends this many events one by one. */
export interface PeerCall {
  readonly url: string
  readonly partition: string
  readonly count: number
}

export interface Peer {
  /** The heads after each append, or `{ error }`. */
  call(call: PeerCall): Promise<unknown>
  /** At once, wherever it is. */
  kill(): Promise<void>
}

/** Another process on the same files. */
export async function startPeer(): Promise<Peer> {
  const main = await bundleOf('test/storage/sqlite/peer-main.ts')
  const child = spawn(process.execPath, [main], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async call(call) {
      child.stdin.write(`${JSON.stringify(call)}\n`)
      const { value, done } = await lines.next()
      if (done) throw new Error('The peer is gone.')
      return JSON.parse(value)
    },
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
