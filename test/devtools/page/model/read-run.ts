import type { Agent } from '../../../../src/agents/agent.ts'
import { subscribe } from '../../../../src/engine/index.ts'
import { createFrameReader } from '../../../../src/ops/devtools/page/model/frames.ts'
import { createLog } from '../../../../src/ops/devtools/page/model/log.ts'
import { createSpanTree } from '../../../../src/ops/devtools/page/model/spans.ts'
import { ALL_CHANNELS } from '../../../kit/channels.ts'
import { engineOf } from '../../../kit/engine.ts'
import { isTerminal } from '../../../kit/events.ts'

/** The log and the tree of a run, of the bytes that a page would read. */
export async function readRun(agent: Agent, input: unknown) {
  const engine = engineOf({ a: agent })
  await engine.start({ threadId: 't', assistantId: 'a', input })
  const subscription = subscribe(engine, { threadId: 't', filter: { channels: ALL_CHANNELS }, since: 0 })
  const [read, log, tree] = [createFrameReader(), createLog({ events: 1e6, bytes: 1e9 }), createSpanTree()]
  for (let isOver = false; !isOver; ) {
    for (const frame of read((await subscription.next())!)) {
      const event = log.add(frame)
      if (event) tree.add(event)
      isOver ||= event !== undefined && isTerminal(event as never)
    }
  }
  subscription.cancel()
  await engine.close()
  return { log, tree }
}
