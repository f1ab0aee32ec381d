import { Client } from 'langsmith'
import { checkOptions, type OptionTable } from '../../../core/options.ts'
import type { TracedRun } from '../traced-run.ts'
import type { Sink } from './delivery.ts'

/** The part of LangSmith's `Client` that the sink uses. */
export interface LangsmithClient {
  createRun(run: Parameters<Client['createRun']>[0]): Promise<void>
  updateRun(id: string, run: Parameters<Client['updateRun']>[1]): Promise<void>
}

export interface LangsmithOptions {
  /** Default: a new client, configured by the environment. It sends in batches, so flush it before exit. */
  readonly client?: LangsmithClient | undefined
  /** Default: `LANGSMITH_PROJECT`, otherwise `default`. */
  readonly project?: string | undefined
}

const OPTIONS: OptionTable<LangsmithOptions> = { client: 'object', project: 'string' }

/** Sends runs to LangSmith with its own client. */
export function langsmithSink(options: LangsmithOptions = {}): Sink {
  checkOptions('langsmithSink', options, OPTIONS)
  const { client = new Client(), project = defaultProject() } = options
  return {
    create: (run) =>
      client.createRun({ ...fieldsOf(run), name: run.name, run_type: run.run_type, project_name: project }),
    update: (run) => client.updateRun(run.id, { ...fieldsOf(run), session_name: project }),
  }
}

/** The client's own default, which its first releases do not export. */
function defaultProject(): string {
  const { LANGSMITH_PROJECT, LANGCHAIN_PROJECT, LANGCHAIN_SESSION } = globalThis.process?.env ?? {}
  return LANGSMITH_PROJECT || LANGCHAIN_PROJECT || LANGCHAIN_SESSION || 'default'
}

/** Copies the readonly lists and records, because the client's types need mutable ones. */
function fieldsOf({ events, tags, ...run }: TracedRun) {
  return {
    ...run,
    extra: { ...run.extra },
    events: events.map((event) => ({ ...event })),
    ...(tags && { tags: [...tags] }),
  }
}
