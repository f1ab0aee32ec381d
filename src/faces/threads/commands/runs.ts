import type { AssistantRecord } from '../../../engine/assistants/index.ts'
import {
  internalsOf,
  type MultitaskStrategy,
  questionsBeforeInput,
  type RunReceipt,
  receiptOf,
  type ThreadRecord,
} from '../../../engine/index.ts'
import { assistantOfThread } from '../../kit/assistants.ts'
import { forkPoint, type RunConfigWire, runSettings } from '../../kit/run-config.ts'
import { threadMetadata } from '../../kit/thread-metadata.ts'
import { titleOf } from '../../kit/title.ts'
import { ProtocolError } from '../errors.ts'
import { inputInjectSchema, inputRespondSchema, runStartSchema, stateForkSchema } from '../wire.ts'
import { type Command, type CommandResult, parse, requireThread } from './command.ts'

/** `run.start`: starts a new run or a fork, or answers the interrupt of an interrupted thread. */
export async function runStart(command: Command): Promise<CommandResult> {
  const { input, config, metadata, multitask_strategy } = parse(runStartSchema, command.params)
  const { graphId, assistant } = command.named
  const started = await command.engine.start({
    ...(await common(command, config, metadata)),
    assistantId: graphId,
    input,
    checkpointId: forkPoint(config),
    multitaskStrategy: strategyOf(multitask_strategy),
    title: titleOf(input),
    metadata: threadMetadata(command.engine, metadata),
    ...(assistant && { threadMetadata: { assistant_id: assistant.assistantId } }),
  })
  return resultOf(started)
}

/** `state.fork`: starts a run from an earlier checkpoint. */
export async function stateFork(command: Command): Promise<CommandResult> {
  const { checkpoint_id, input, config } = parse(stateForkSchema, command.params)
  const started = await command.engine.start({
    ...(await common(command, config)),
    input,
    checkpointId: checkpoint_id,
    mustExist: true,
  })
  return resultOf(started, { thread_id: command.threadId })
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
  const started = await command.engine.respond({
    ...(await common(command, config, metadata)),
    answers,
    update,
    goto,
  })
  return resultOf(started)
}

/**
 * `input.inject`: adds a message to an idle thread's state, or queues it after the active run. Rejected while
 * an interrupt is open.
 */
export async function inputInject(command: Command): Promise<CommandResult> {
  const { message } = parse(inputInjectSchema, command.params)
  const { engine, threadId, principal } = command
  const thread = await requireThread(command)
  const key = await command.key()
  const done = await receiptOf(engine, threadId, key)
  const messages = [
    {
      type: message.role === 'user' ? 'human' : 'system',
      content: message.content,
      ...(message.name !== undefined && { name: message.name }),
      id: crypto.randomUUID(),
    },
  ]
  // A repeated command has the same effect as the first time, whatever the thread's current status.
  if (done ? 'runId' in done : thread.status === 'busy') {
    const started = await engine.start({
      ...(await common(command)),
      input: { messages },
      accept: refuseQuestions(command),
    })
    return resultOf(started)
  }
  const { appliedThroughSeq } = await engine.writeState({
    threadId,
    principal,
    values: { messages },
    command: key,
    accept: refuseQuestions(command),
  })
  return { result: {}, appliedThroughSeq }
}

const refuseQuestions =
  ({ engine }: Command) =>
  async (thread: ThreadRecord): Promise<void> => {
    if ((await questionsBeforeInput(engine, thread)).length === 0) return
    throw new ProtocolError(
      'not_supported',
      'The thread has an open interrupt, which a message would discard. Answer with input.respond, and send the message as update.',
    )
  }

const resultOf = ({ runId, appliedThroughSeq }: RunReceipt, more: object = {}): CommandResult => ({
  result: { run_id: runId, ...more },
  appliedThroughSeq,
})

/** The fields that all commands that start a run have in common. */
async function common(
  command: Command,
  config?: RunConfigWire,
  metadata?: Readonly<Record<string, unknown>>,
) {
  const { engine, threadId, principal, named, request, traceparent } = command
  const settings = (assistant: AssistantRecord | undefined) =>
    runSettings(internalsOf(engine).limits, assistant, { config, metadata })
  return {
    threadId,
    principal,
    request,
    traceparent,
    // A request without an assistant uses that of the thread.
    ...(named.graphId === undefined
      ? {
          settingsOf: async (thread: ThreadRecord) =>
            settings(await assistantOfThread(engine, principal, thread)),
        }
      : settings(named.assistant)),
    command: await command.key(),
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
