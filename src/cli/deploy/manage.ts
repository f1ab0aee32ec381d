import { AgentwireError } from '../../core/errors.ts'
import { type ExitCode, parseCommandLine, type Terminal, UsageError } from '../terminal.ts'
import {
  type Deployment,
  eventsOf,
  findDeployment,
  openPlane,
  PLANE_OPTIONS,
  PLANE_USAGE,
  type Revision,
  revisionsOf,
} from './client.ts'
import { awaitRevision, withErrorsReported } from './deploy.ts'

const LIST_USAGE = `agentwire list [NAME]  lists the deployments of a control plane, or the newest 100 revisions of one

${PLANE_USAGE}`

export async function listCommand(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { values, positionals } = parseCommandLine(args, PLANE_OPTIONS)
  if (values.help) return usage(terminal, LIST_USAGE)
  const [name, ...more] = positionals
  if (more.length > 0) throw new UsageError('agentwire list takes the name of one deployment, or none.')
  const print = <T>(resources: readonly T[], asTable: () => string): ExitCode => {
    terminal.out(values.json ? JSON.stringify(resources) : asTable())
    return 0
  }
  return withErrorsReported(terminal, async () => {
    const plane = openPlane(values, terminal)
    if (name !== undefined) {
      const deployment = await findDeployment(plane, name)
      const revisions = await revisionsOf(plane, deployment)
      return print(revisions, () => revisionTable(revisions, deployment))
    }
    const { resources } = await plane.request<{ resources: readonly Deployment[] }>(
      'GET',
      '/v2/deployments?limit=100',
    )
    return print(resources, () => (resources.length === 0 ? 'No deployments.' : deploymentTable(resources)))
  })
}

const deploymentTable = (deployments: readonly Deployment[]): string =>
  table([
    ['NAME', 'STATUS', 'URL', 'UPDATED'],
    ...deployments.map((one) => [one.name, one.status, one.source_config.custom_url ?? '', one.updated_at]),
  ])

const revisionTable = (revisions: readonly Revision[], { active_revision_id }: Deployment): string =>
  table([
    ['REVISION', 'STATUS', 'CREATED'],
    ...revisions.map(({ id, revision_number, status, created_at }) => [
      String(revision_number),
      id === active_revision_id ? `${status} (active)` : status,
      created_at,
    ]),
  ])

const LOGS_USAGE = `agentwire logs NAME  prints the server log of a deployment

  --build         prints the log of the newest build instead
  --follow, -f    keeps printing new lines
  --lines N       the number of newest lines to print; default: 100
${PLANE_USAGE}`

export async function logsCommand(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { values, positionals } = parseCommandLine(args, {
    build: { type: 'boolean' },
    follow: { type: 'boolean', short: 'f' },
    lines: { type: 'string' },
    ...PLANE_OPTIONS,
  })
  if (values.help) return usage(terminal, LOGS_USAGE)
  const name = nameIn(positionals, 'logs')
  const limit = Number(values.lines ?? 100)
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= 1_000))
    throw new UsageError('--lines must be a number from 1 to 1000.')
  const print = (entry: LogLine) => terminal.out(values.json ? JSON.stringify(entry) : lineOf(entry))
  return withErrorsReported(terminal, async () => {
    const plane = openPlane(values, terminal)
    const { id } = await findDeployment(plane, name)
    const type = values.build ? 'build' : 'deploy'
    if (values.follow) {
      for await (const { event, data } of eventsOf(plane, id, `types=${type}`))
        if (event === type) print(data as LogLine)
      return 0
    }
    const path = `/v2/deployments/${id}/logs?type=${type}&order=desc&limit=${limit}`
    const { logs } = await plane.request<{ logs: readonly LogLine[] }>('GET', path)
    for (const entry of logs.toReversed()) print(entry)
    return 0
  })
}

interface LogLine {
  readonly timestamp: string
  readonly level: string
  readonly message: string
}

const lineOf = ({ timestamp, level, message }: LogLine): string =>
  `${timestamp} ${level.padEnd(7)} ${message}`

const ROLLBACK_USAGE = `agentwire rollback NAME [NUMBER]  serves an earlier revision again, without building it

NUMBER is the revision number, which “agentwire list NAME” shows; default: the revision that served before the current one.

${PLANE_USAGE}`

export async function rollbackCommand(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { values, positionals } = parseCommandLine(args, PLANE_OPTIONS)
  if (values.help) return usage(terminal, ROLLBACK_USAGE)
  const name = nameIn(positionals.slice(0, 1), 'rollback')
  const number = positionals[1]
  if (positionals.length > 2 || (number !== undefined && !/^\d+$/.test(number)))
    throw new UsageError(
      'agentwire rollback takes the name of a deployment and optionally a revision number.',
    )
  const json = values.json ?? false
  const show = json ? () => {} : terminal.out
  return withErrorsReported(terminal, async () => {
    const plane = openPlane(values, terminal)
    const deployment = await findDeployment(plane, name)
    const target = earlier(deployment, await revisionsOf(plane, deployment), number)
    show(`Rolling ${name} back to revision ${target.revision_number}`)
    const path = `/v2/deployments/${deployment.id}/revisions/${target.id}/redeploy`
    return awaitRevision(plane, await plane.request<Deployment>('POST', path), { ...terminal, show, json })
  })
}

/** The revision with a number, otherwise the newest one that was replaced. */
function earlier(
  deployment: Deployment,
  revisions: readonly Revision[],
  number: string | undefined,
): Revision {
  const found = revisions.find(({ id, status, revision_number }) =>
    number === undefined
      ? id !== deployment.active_revision_id && status === 'DEPLOYED'
      : revision_number === Number(number),
  )
  if (found) return found
  const what = number === undefined ? 'earlier revision that has served' : `revision ${number}`
  throw new AgentwireError('not_found', `${deployment.name} has no ${what}.`)
}

const DELETE_USAGE = `agentwire delete NAME  stops and removes a deployment

  --yes           does not ask for confirmation
${PLANE_USAGE}`

export async function deleteCommand(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { values, positionals } = parseCommandLine(args, {
    yes: { type: 'boolean', short: 'y' },
    ...PLANE_OPTIONS,
  })
  if (values.help) return usage(terminal, DELETE_USAGE)
  const name = nameIn(positionals, 'delete')
  if (!values.yes && terminal.ask === undefined)
    throw new UsageError('Pass --yes: there is no terminal to ask for confirmation.')
  return withErrorsReported(terminal, async () => {
    const plane = openPlane(values, terminal)
    const { id } = await findDeployment(plane, name)
    const isSure =
      values.yes ||
      /^y/i.test(((await terminal.ask?.(`Delete ${name} with all its revisions? [y/N] `)) ?? '').trim())
    if (!isSure) return 1
    await plane.request('DELETE', `/v2/deployments/${id}`)
    terminal.out(values.json ? JSON.stringify({ id, name, deleted: true }) : `${name} is deleted.`)
    return 0
  })
}

function usage({ out }: Terminal, text: string): ExitCode {
  out(text)
  return 0
}

function nameIn(positionals: readonly string[], command: string): string {
  const [name, ...more] = positionals
  if (name !== undefined && more.length === 0) return name
  throw new UsageError(`agentwire ${command} takes the name of one deployment.`)
}

/** Columns as wide as their contents. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)))
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
