import {
  internalsOf,
  lookAtThread,
  type MultitaskStrategy,
  questionsBeforeInput,
  type RunReceipt,
  type RunRequest,
  receiptIn,
  retryConflicts,
  type ThreadLook,
} from '../../../engine/index.ts'
import { assistantOfThread } from '../../kit/assistants.ts'
import { forkPoint, type RunConfigWire, runSettings } from '../../kit/run-config.ts'
import { type Metadata, threadMetadata } from '../../kit/thread-metadata.ts'
import { titleOf } from '../../kit/title.ts'
import { ProtocolError } from '../errors.ts'
import { inputInjectSchema, inputRespondSchema, runStartSchema, stateForkSchema } from '../wire.ts'
import { type Command, type CommandResult, knownThread, parse } from './command.ts'

/** `run.start`: starts a new run or a fork, or answers the interrupt of an interrupted thread. */
export async function runStart(command: Command): Promise<CommandResult> {
  const { input, config, metadata, multitask_strategy } = parse(runStartSchema, command.params)
  const { graphId, assistant } = command.named
  return starting(command, { config, metadata }, (run) =>
    command.engine.start({
      ...run,
      assistantId: graphId,
      input,
      checkpointId: forkPoint(config),
      multitaskStrategy: strategyOf(multitask_strategy),
      title: titleOf(input),
      metadata: threadMetadata(command.engine, metadata),
      ...(assistant && { threadMetadata: { assistant_id: assistant.assistantId } }),
    }),
  )
}

/** `state.fork`: starts a run from an earlier checkpoint. */
export async function stateFork(command: Command): Promise<CommandResult> {
  const { checkpoint_id, input, config } = parse(stateForkSchema, command.params)
  const { result, ...forked } = await starting(command, { config }, (run) =>
    command.engine.start({ ...run, input, checkpointId: checkpoint_id, mustExist: true }),
  )
  return { result: { ...result, thread_id: command.threadId }, ...forked }
}

/**
 * `input.respond`: answers one or more interrupts. The namespace that a client sends is ignored, because
 * interrupt ids are sufficient.
 */
export async function inputRespond(command: Command): Promise<CommandResult> {
  const { interrupt_id, response, responses, update, goto, config, metadata } = parse(
    inputRespondSchema,
    command.params,
  )
  const answers = answersOf(responses ?? (interrupt_id === undefined ? [] : [{ interrupt_id, response }]))
  return starting(command, { config, metadata }, (run) =>
    command.engine.respond({ ...run, answers, update, goto }),
  )
}

/**
 * `input.inject`: adds a message to an idle thread's state, or queues it after the active run. Rejected while
 * an interrupt is open.
 */
export async function inputInject(command: Command): Promise<CommandResult> {
  const { message } = parse(inputInjectSchema, command.params)
  const { engine, threadId, principal } = command
  const key = await command.key()
  const messages = [
    {
      type: message.role === 'user' ? 'human' : 'system',
      content: message.content,
      ...(message.name !== undefined && { name: message.name }),
      id: crypto.randomUUID(),
    },
  ]
  return retryConflicts(async () => {
    const looked = await lookAtThread(engine, { threadId, principal, command: key })
    const thread = knownThread(command, looked.thread)
    const done = receiptIn(looked)
    if (!done && (await questionsBeforeInput(engine, thread)).length > 0) throw openInterrupt()
    // A repeated command has the same effect as the first time, whatever the thread's current status.
    if (done ? 'runId' in done : thread.status === 'busy') {
      const run = await fieldsOf(command, {}, looked)
      return resultOf(await engine.start({ ...run, input: { messages } }))
    }
    const write = { threadId, principal, values: { messages }, command: key, looked }
    return { result: {}, appliedThroughSeq: (await engine.writeState(write)).appliedThroughSeq }
  })
}

const openInterrupt = (): ProtocolError =>
  new ProtocolError(
    'not_supported',
    'The thread has an open interrupt, which a message would discard. Answer with input.respond, and send the message as update.',
  )

const resultOf = ({ runId, appliedThroughSeq }: RunReceipt): CommandResult => ({
  result: { run_id: runId },
  appliedThroughSeq,
})

/** What a command says about its run. */
interface Settings {
  readonly config?: RunConfigWire | undefined
  readonly metadata?: Metadata | undefined
}

/** The fields that all commands that start a run have in common. */
type CommonFields = Omit<RunRequest, 'input'>

/** Starts the run of a command. One that names no assistant runs with that of the thread. */
async function starting(
  command: Command,
  settings: Settings,
  start: (run: CommonFields) => Promise<RunReceipt>,
): Promise<CommandResult> {
  if (command.named.graphId !== undefined) return resultOf(await start(await fieldsOf(command, settings)))
  const { engine, threadId, principal } = command
  const query = { threadId, principal, command: await command.key(), saved: false }
  return retryConflicts(async () => {
    const looked = await lookAtThread(engine, query)
    return resultOf(await start(await fieldsOf(command, settings, looked)))
  })
}

async function fieldsOf(
  command: Command,
  { config, metadata }: Settings,
  looked?: ThreadLook,
): Promise<CommonFields> {
  const { engine, threadId, principal, named, request, traceparent } = command
  const thread = looked?.thread ?? { metadata: threadMetadata(engine, metadata), assistantId: null }
  const assistant = looked ? await assistantOfThread(engine, principal, thread) : named.assistant
  return {
    threadId,
    principal,
    request,
    traceparent,
    ...runSettings(internalsOf(engine).limits, assistant, { config, metadata }),
    command: await command.key(),
    looked,
  }
}

const STRATEGIES: readonly unknown[] = ['reject', 'rollback', 'interrupt', 'enqueue']

/** Unknown and absent strategies mean `enqueue`, as on the reference servers. */
const strategyOf = (value: unknown): MultitaskStrategy =>
  STRATEGIES.includes(value) ? (value as MultitaskStrategy) : 'enqueue'

function answersOf(
  responses: readonly { readonly interrupt_id: string; readonly response?: unknown }[],
): Record<string, unknown> {
  if (responses.length === 0) {
    throw new ProtocolError('invalid_argument', 'interrupt_id or responses: name the interrupt to answer.')
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
