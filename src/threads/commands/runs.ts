import { forkPoint, type RunConfigWire, runConfig } from '../../requests/run-config.ts'
import type { MultitaskStrategy, RunInput, Started } from '../../runs/index.ts'
import { ProtocolError } from '../errors.ts'
import { titleOf } from '../title.ts'
import { inputInjectSchema, inputRespondSchema, runStartSchema, stateForkSchema } from '../wire.ts'
import { assistantOf, type Command, type CommandResult, parse, requireThread } from './command.ts'

/** `run.start`: a new run, a fork, or, on an interrupted thread, the answer to its interrupt. */
export async function runStart(command: Command): Promise<CommandResult> {
  const { assistant_id, input, config, metadata, multitask_strategy } = parse(runStartSchema, command.params)
  const started = await start(command, {
    assistantId: await assistantOf(command, assistant_id),
    start: { kind: 'input', value: input ?? null },
    checkpointId: forkPoint(config),
    strategy: strategyOf(multitask_strategy),
    config,
    metadata,
    title: titleOf(input),
  })
  return { result: { run_id: started.runId }, appliedThroughSeq: started.appliedThroughSeq }
}

/** `state.fork`: a run from an earlier checkpoint. */
export async function stateFork(command: Command): Promise<CommandResult> {
  const { checkpoint_id, input, config } = parse(stateForkSchema, command.params)
  await requireThread(command)
  const started = await start(command, {
    assistantId: await assistantOf(command, undefined),
    start: { kind: 'input', value: input ?? null },
    checkpointId: checkpoint_id,
    config,
  })
  return {
    result: { run_id: started.runId, thread_id: command.threadId },
    appliedThroughSeq: started.appliedThroughSeq,
  }
}

/** `input.respond`: answers one interrupt or several. The namespace a client sends is advice: ids are enough. */
export async function inputRespond(command: Command): Promise<CommandResult> {
  const { interrupt_id, response, responses, update, goto, config, metadata } = parse(
    inputRespondSchema,
    command.params,
  )
  const answers = answersOf(responses ?? (interrupt_id === undefined ? [] : [{ interrupt_id, response }]))
  await requireThread(command)
  const started = await start(command, {
    assistantId: await assistantOf(command, undefined),
    start: { kind: 'resume', answers, ...(update != null && { update }), ...(goto != null && { goto }) },
    config,
    metadata,
  })
  return { result: { run_id: started.runId }, appliedThroughSeq: started.appliedThroughSeq }
}

/** `input.inject`: a message into an idle thread's state, or behind the run in progress. Not beside an open question. */
export async function inputInject(command: Command): Promise<CommandResult> {
  const { message } = parse(inputInjectSchema, command.params)
  const { engine, threadId, owner } = command
  const thread = await requireThread(command)
  const key = await command.key()
  const done = await engine.recall(threadId, key)
  const messages = [
    {
      type: message.role === 'user' ? 'human' : 'system',
      content: message.content,
      ...(message.name !== undefined && { name: message.name }),
      id: crypto.randomUUID(),
    },
  ]
  // Sent again it does what it did, whatever the thread does now.
  if (done ? 'runId' in done : thread.status === 'busy') {
    const assistantId = await assistantOf(command, undefined)
    const started = await start(command, { assistantId, start: { kind: 'input', value: { messages } } })
    return { result: { run_id: started.runId }, appliedThroughSeq: started.appliedThroughSeq }
  }
  await command.permit('threads:update')
  if (!done && thread.status === 'interrupted') {
    throw new ProtocolError(
      'not_supported',
      'The thread waits for an answer, which a message would take away. Answer with input.respond, and give the message as update.',
    )
  }
  const { appliedThroughSeq } = await engine.writeState({
    threadId,
    owner,
    values: { messages },
    command: key,
  })
  return { result: {}, appliedThroughSeq }
}

interface RunRequest {
  readonly assistantId: string
  readonly start: RunInput
  readonly checkpointId?: string | undefined
  readonly strategy?: MultitaskStrategy
  readonly config?: RunConfigWire | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  readonly title?: string | undefined
}

async function start(command: Command, request: RunRequest): Promise<Started> {
  const { engine, threadId, owner, principal } = command
  await command.permit('runs:create', request.assistantId)
  return engine.start({
    threadId,
    owner,
    assistantId: request.assistantId,
    start: request.start,
    checkpointId: request.checkpointId,
    multitaskStrategy: request.strategy,
    config: runConfig(request.config, request.metadata, principal),
    title: request.title,
    command: await command.key(),
  })
}

const STRATEGIES: readonly unknown[] = ['reject', 'rollback', 'interrupt', 'enqueue']

/** Unknown and absent strategies mean `enqueue`, as on the reference servers. */
const strategyOf = (value: unknown): MultitaskStrategy =>
  STRATEGIES.includes(value) ? (value as MultitaskStrategy) : 'enqueue'

function answersOf(
  responses: readonly { readonly interrupt_id: string; readonly response?: unknown }[],
): Record<string, unknown> {
  if (responses.length === 0) {
    throw new ProtocolError(
      'invalid_argument',
      'interrupt_id or responses: name the interrupt that is answered.',
    )
  }
  const answers: Record<string, unknown> = Object.create(null)
  for (const { interrupt_id, response } of responses) {
    if (interrupt_id in answers) {
      throw new ProtocolError(
        'invalid_argument',
        `responses: interrupt ${JSON.stringify(interrupt_id)} is answered twice.`,
      )
    }
    answers[interrupt_id] = response ?? null
  }
  return answers
}
