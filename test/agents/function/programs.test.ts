import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defineAgent, type ToolContext, type Writer } from '../../../src/agents/function/define-agent.ts'
import type { AgentEvent } from '../../../src/messages/thread-events/index.ts'
import { artifactsIn, artifactsOf } from '../artifacts.ts'
import { answers, collect, input, messagesIn, newThread, run, type Thread } from '../run.ts'

/** The steps of a function, as data. Their labels are unique. */
type Act = 'say' | 'custom' | 'ask' | 'set' | 'make' | 'draft'
type Step =
  | { readonly [act in Act]: { readonly do: act; readonly label: string } }[Act]
  | { readonly do: 'branch'; readonly branches: readonly Branch[] }
type Branch =
  | { readonly kind: 'tool'; readonly label: string; readonly steps: readonly Step[] }
  | { readonly kind: 'subagent'; readonly label: string; readonly steps: readonly Step[] }

const label = fc.constant('')
const simple = (...kinds: Act[]) => fc.record({ do: fc.constantFrom(...kinds), label }) as fc.Arbitrary<Step>
const toolSteps = fc.array(simple('custom', 'ask'), { maxLength: 3 })

const { program } = fc.letrec<{ program: readonly Step[]; branch: Branch }>((tie) => ({
  branch: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'branch' },
    fc.record({ kind: fc.constant('tool' as const), label, steps: toolSteps }),
    fc.record({ kind: fc.constant('subagent' as const), label, steps: tie('program') }),
  ),
  program: fc.array(
    fc.oneof(
      { weight: 4, arbitrary: simple('say', 'custom', 'ask', 'set', 'make', 'draft') },
      {
        weight: 1,
        arbitrary: fc.record({
          do: fc.constant('branch' as const),
          branches: fc.array(tie('branch'), { minLength: 1, maxLength: 3, depthIdentifier: 'branch' }),
        }),
      },
    ),
    { maxLength: 4, depthIdentifier: 'branch' },
  ),
}))

/** Gives every step and branch its own label. */
function number(steps: readonly Step[], prefix = ''): readonly Step[] {
  return steps.map((step, at): Step => {
    const own = `${prefix}${at}`
    if (step.do !== 'branch') return { ...step, label: own }
    return {
      ...step,
      branches: step.branches.map((branch, place): Branch => {
        const inner = `${own}.${place}`
        return { ...branch, label: inner, steps: number(branch.steps, `${inner}/`) }
      }),
    }
  })
}

async function perform(
  steps: readonly Step[],
  writer: Writer,
  ask: (label: string) => boolean,
): Promise<void> {
  const heard: string[] = []
  for (const step of steps) {
    if (step.do === 'say') await writer.message(`${step.label} ${heard.join(' ')}`)
    else if (step.do === 'custom') await writer.custom(step.label, heard.join(' '))
    else if (step.do === 'set') await writer.setState({ [`key ${step.label}`]: heard.join(' ') })
    else if (step.do === 'make')
      await writer.artifact(`${step.label} ${heard.join(' ')}`, { name: step.label })
    else if (step.do === 'draft') {
      const artifact = writer.artifact({ name: step.label })
      await artifact.text('It is ')
      heard.push(await question(step.label, writer, ask))
      await artifact.text(heard.join(' '))
      await artifact.end()
    } else if (step.do === 'ask') heard.push(await question(step.label, writer, ask))
    else heard.push(...(await Promise.all(step.branches.map((branch) => performBranch(branch, writer, ask)))))
  }
}

function performBranch(
  { kind, label: name, steps }: Branch,
  writer: Writer,
  ask: (label: string) => boolean,
): Promise<string> {
  if (kind === 'subagent') return writer.subagent(name, `Task ${name}`, (inner) => perform(steps, inner, ask))
  return writer.tool(name, {}, async (context) => {
    const heard: string[] = []
    for (const step of steps) {
      if (step.do === 'ask') heard.push(await question(step.label, context, ask))
      else if (step.do === 'custom') await context.custom(step.label, heard.join(' '))
    }
    return heard.join(' ')
  })
}

const question = (
  name: string,
  { interrupt }: Pick<ToolContext, 'interrupt'>,
  ask: (label: string) => boolean,
) => (ask(name) ? interrupt<string>(name) : Promise.resolve(`answer ${name}`))

const agentOf = (steps: readonly Step[], ask: (label: string) => boolean) =>
  defineAgent({ run: (context) => perform(steps, context, ask) })

const dataOf = (event: AgentEvent) => event.data as Readonly<Record<string, unknown>>
const questions = (events: readonly AgentEvent[]) =>
  events.filter(({ method }) => method === 'input.requested').map(dataOf) as unknown as readonly {
    interrupt_id: string
    payload: string
  }[]

/** The final state of every namespace, without ids and without the order of parallel calls. */
async function outcome(agent: ReturnType<typeof defineAgent>, thread: Thread, events: readonly AgentEvent[]) {
  const namespaces = [...new Set(events.map(({ namespace }) => namespace.join('|')))]
  const states = await Promise.all(
    namespaces.map(async (checkpointNs) => {
      const state = await agent.getState({ ...thread, checkpointNs })
      return state?.values ?? {}
    }),
  )
  const lines = states.map(({ messages: _, artifacts, ...rest }, at) => {
    const made = artifactsIn(artifacts)
    expect(artifactsOf(events, namespaces[at]!)).toEqual(made)
    const fields = {
      ...rest,
      ...(made.length > 0 && { made: made.map(({ name, content }) => [name, content]) }),
    }
    const said = messagesIn(states[at]).map(({ type, content, tool_calls: calls = [] }) => [
      type,
      typeof content === 'string' ? content : calls.map(({ name, args }) => [name, args]),
    ])
    const spoken = said.filter(([type, content]) => type === 'ai' && typeof content === 'string')
    return JSON.stringify([fields, spoken, said.map((one) => JSON.stringify(one)).sort()])
  })
  return lines.filter((line) => line !== '[{},[],[]]').sort()
}

/** The events that may be sent only once, however often the function runs. */
function onceOnly(events: readonly AgentEvent[]): readonly string[] {
  return events.flatMap((event) => {
    const data = dataOf(event)
    if (data.name === 'artifact') {
      const { event: kind, id } = data.payload as { event: string; id: string }
      return kind === 'artifact-finish' ? [`artifact ${id}`] : []
    }
    if (event.method === 'custom') return [`custom ${String(data.name)} ${String(data.payload)}`]
    if (data.event === 'message-start') return [`message ${String(data.id)}`]
    return data.event === 'tool-finished' ? [`tool ${String(data.tool_call_id)}`] : []
  })
}

test('a function with interrupts ends in the same state as without them, and sends nothing twice', async () => {
  await fc.assert(
    fc.asyncProperty(
      program.map((steps) => number(steps)),
      fc.infiniteStream(fc.nat()),
      async (steps, choices) => {
        const smooth = agentOf(steps, () => false)
        const smoothThread = newThread()
        const smoothEvents = await run(smooth, smoothThread, input({ messages: ['go'] }))

        const asking = agentOf(steps, () => true)
        const thread = newThread()
        const events = [...(await run(asking, thread, input({ messages: ['go'] })))]
        let open = questions(events)
        for (let attempts = 0; open.length > 0; attempts++) {
          expect(attempts).toBeLessThan(60)
          const listed = (await asking.getState(thread))!.tasks.flatMap(({ interrupts }) =>
            interrupts.map(({ id }) => id),
          )
          expect(listed.toSorted()).toEqual(open.map(({ interrupt_id: id }) => id).toSorted())
          const picked = open.filter(() => choices.next().value! % 2 === 0)
          const answered = picked.length > 0 ? picked : open.slice(0, 1)
          const given = Object.fromEntries(
            answered.map(({ interrupt_id: id, payload }) => [id, `answer ${payload}`]),
          )
          const more = await run(asking, thread, answers(given))
          events.push(...more)
          const left = open.filter((one) => !answered.includes(one))
          open = questions(more)
          for (const one of left) expect(open).toContainEqual(one)
        }
        const seen = onceOnly(events)
        expect(new Set(seen).size).toBe(seen.length)
        expect(seen.length).toBe(onceOnly(smoothEvents).length)
        expect(await outcome(asking, thread, events)).toEqual(
          await outcome(smooth, smoothThread, smoothEvents),
        )
        expect((await asking.getState(thread))!.next).toEqual([])
        for (const snapshot of (await collect(asking.getHistory(thread))).slice(1))
          expect(snapshot.next).toEqual(['agent'])
      },
    ),
    { numRuns: 60 },
  )
})
