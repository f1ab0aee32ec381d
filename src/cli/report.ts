import type { StorageReport } from '../storage/durable-storage.ts'

/** Something that an operator should know. */
export interface Finding {
  readonly level: 'ok' | 'warning' | 'problem'
  readonly text: string
}

export function findingsOf({ schema, durable, warnings }: StorageReport): readonly Finding[] {
  return [
    { level: 'ok', text: 'Reachable.' },
    migrationFinding(schema),
    durable
      ? { level: 'ok', text: 'Durable: acknowledged writes survive a crash of the database.' }
      : { level: 'warning', text: 'Not durable: a crash can lose acknowledged writes.' },
    ...warnings.map((text) => ({ level: 'warning', text }) as const),
  ]
}

function migrationFinding({ version, newest }: StorageReport['schema']): Finding {
  if (newest === 0) return { level: 'ok', text: 'Nothing to migrate.' }
  if (version === newest) return { level: 'ok', text: `Migrated: version ${version} of ${newest}.` }
  const text =
    version > newest
      ? `The schema has version ${version}, but this release of agentwire only knows ${newest}: update the package.`
      : `Not migrated: version ${version} of ${newest}. Run “agentwire storage migrate”, or start a server, which migrates too.`
  return { level: 'problem', text }
}

/** One line each, such as `1,200 events`. */
export function contentLines({ counts, bytes }: StorageReport): readonly string[] {
  const { partitions, documents, events, leases, checkpoints } = counts
  return [
    plural(partitions, 'thread or other partition', 'threads and other partitions'),
    plural(documents, 'document', 'documents'),
    plural(events, 'event', 'events'),
    plural(checkpoints, 'checkpoint', 'checkpoints'),
    plural(leases, 'lease (a run or other work in progress)', 'leases (runs and other work in progress)'),
    ...(bytes === undefined ? [] : [`${size(bytes)} in total`]),
  ]
}

const plural = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

/** Such as `12 KiB`, with three digits at most. */
export function size(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']
  const at = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** at
  return `${at === 0 || value >= 99.5 ? Math.round(value) : Number(value.toPrecision(2))} ${units[at]}`
}

/** An error and its causes, as one sentence. */
export function explain(error: Error): string {
  let text = error.message
  for (let cause = causeOf(error); cause !== undefined; cause = causeOf(cause)) {
    const more = cause.message
    if (more !== '' && !text.includes(more)) text = `${text.replace(/\.$/, '')}: ${more}`
  }
  return /[.!?]$/.test(text) ? text : `${text}.`
}

/** The cause of an error. If there are several, such as one for each address of a host, the first. */
function causeOf(error: Error): Error | undefined {
  const cause = error instanceof AggregateError ? error.errors[0] : error.cause
  return cause instanceof Error ? cause : undefined
}
