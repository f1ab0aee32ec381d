import { existsSync } from 'node:fs'
import { basename, dirname, relative, resolve } from 'node:path'
import { workspaceOf } from '../../control-plane/deployers/process/workspaces.ts'
import { AgentwireError } from '../../core/errors.ts'
import { type ExitCode, explain, parseCommandLine, size, type Terminal, UsageError } from '../terminal.ts'
import {
  type Deployment,
  followRevision,
  lookUp,
  openPlane,
  PLANE_OPTIONS,
  PLANE_USAGE,
  type Plane,
  pageOf,
  revisionsOf,
} from './client.ts'
import { packProject } from './pack.ts'

const DEPLOY_USAGE = `agentwire deploy  uploads this project to a control plane, and waits until it is deployed

  --name NAME     letters, digits and dashes; default: the name of the folder
  --config FILE   default: langgraph.json
  --repository URL, --ref REF
                  deploys a repository instead; the default of REF is main
  --image URI     deploys an image instead
  --install-command COMMAND
                  runs in the root of the source; default: what the lock file requires
  --build-command COMMAND
                  runs in the folder of the config after the install
  --secret NAME=VALUE
                  an environment variable of the deployment; repeatable; default: keeps the existing ones
${PLANE_USAGE}`

const OPTIONS = {
  name: { type: 'string' },
  config: { type: 'string' },
  repository: { type: 'string' },
  ref: { type: 'string' },
  image: { type: 'string' },
  'install-command': { type: 'string' },
  'build-command': { type: 'string' },
  secret: { type: 'string', multiple: true },
  ...PLANE_OPTIONS,
} as const

type Values = ReturnType<typeof parseCommandLine<typeof OPTIONS>>['values']

export async function deployCommand(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { values, positionals } = parseCommandLine(args, OPTIONS)
  if (values.help) {
    terminal.out(DEPLOY_USAGE)
    return 0
  }
  if (positionals.length > 0)
    throw new UsageError(`agentwire deploy takes only options; remove “${positionals[0]}”.`)
  if (values.repository && values.image)
    throw new UsageError('--repository and --image cannot be used together.')
  const name = values.name ?? nameOf(resolve(dirname(values.config ?? 'langgraph.json')))
  const isUpload = !values.repository && !values.image
  const config = resolve(values.config ?? 'langgraph.json')
  if (isUpload && !existsSync(config))
    throw new UsageError(
      `${config} does not exist. Run this in the folder of a project, or pass --config FILE.`,
    )
  const show = values.json ? () => {} : terminal.out
  return withErrorsReported(terminal, async () => {
    const plane = openPlane(values, terminal)
    const deployment = await deploy(plane, name, values, show)
    return awaitRevision(plane, deployment, { ...terminal, show, json: values.json ?? false })
  })
}

const nameOf = (folder: string): string =>
  basename(folder)
    .replace(/[^A-Za-z0-9-]+/g, '-')
    .replace(/^[^A-Za-z]+|(?<!-)-+$/g, '') || 'agent'

/** Creates a revision of the deployment with this name, which is created if it does not exist. */
async function deploy(
  plane: Plane,
  name: string,
  values: Values,
  show: (text: string) => void,
): Promise<Deployment> {
  const secrets = values.secret?.map(secretOf) ?? null
  const commands = commandsOf(values)
  const known = await lookUp(plane, name)
  if (values.repository || values.image) {
    const { source, source_config, source_revision_config } = sourceOf(values)
    show(`Deploying ${values.repository ?? values.image} as ${name}`)
    if (known)
      return plane.request('PATCH', `/v2/deployments/${known.id}`, {
        source_revision_config,
        secrets,
        ...(commands && { source_config: commands }),
      })
    return plane.request('POST', '/v2/deployments', {
      name,
      source,
      source_config: { ...source_config, ...commands },
      source_revision_config,
      secrets: secrets ?? [],
    })
  }
  const config = resolve(values.config ?? 'langgraph.json')
  // A package of a workspace needs the lock file and the other packages of the workspace.
  const root = (await workspaceOf(dirname(config))) ?? dirname(config)
  const archive = await packProject(root)
  const empty = {
    name,
    source: 'internal_source',
    source_config: {},
    source_revision_config: {},
    secrets: secrets ?? [],
  }
  const { id } = known ?? (await plane.request<Deployment>('POST', '/v2/deployments', empty))
  show(`Uploading ${size(archive.byteLength)} as ${name}`)
  const source_tarball_path = await upload(plane, id, archive)
  const langgraph_config_path = relative(root, config).replaceAll('\\', '/')
  return plane.request('PATCH', `/v2/deployments/${id}`, {
    source_revision_config: { source_tarball_path, langgraph_config_path },
    secrets,
    ...(commands && { source_config: commands }),
  })
}

/** The commands of the build. Those of the deployment stay if none are named. */
function commandsOf({ 'install-command': install_command, 'build-command': build_command }: Values) {
  return install_command === undefined && build_command === undefined
    ? undefined
    : { ...(install_command && { install_command }), ...(build_command && { build_command }) }
}

function sourceOf({ repository, ref = 'main', image, config = 'langgraph.json' }: Values) {
  if (image)
    return {
      source: 'external_docker',
      source_config: { resource_spec: {} },
      source_revision_config: { image_uri: image },
    }
  return {
    source: 'github',
    source_config: { repo_url: repository, deployment_type: 'prod', build_on_push: false },
    source_revision_config: { repo_ref: ref, langgraph_config_path: config },
  }
}

function secretOf(text: string): { readonly name: string; readonly value: string } {
  const at = text.indexOf('=')
  if (at > 0) return { name: text.slice(0, at), value: text.slice(at + 1) }
  // The value itself is not shown.
  throw new UsageError('--secret must be NAME=VALUE.')
}

/** Returns the path for the revision's source. */
async function upload(plane: Plane, id: string, archive: Uint8Array): Promise<string> {
  const answer = await plane.request<{ upload_url: string; object_path: string }>(
    'POST',
    `/v2/deployments/${id}/upload-url`,
  )
  const response = await fetch(answer.upload_url, { method: 'PUT', body: archive as Uint8Array<ArrayBuffer> })
  if (response.ok) return answer.object_path
  throw new AgentwireError('refused', `The upload failed with ${response.status}: ${await response.text()}`)
}

/** Shows the progress of a deployment's newest revision. The exit code is 0 once it is deployed. */
export async function awaitRevision(
  plane: Plane,
  deployment: Deployment,
  {
    out,
    problem,
    show,
    json,
  }: Pick<Terminal, 'out' | 'problem'> & { readonly show: (text: string) => void; readonly json: boolean },
): Promise<ExitCode> {
  const { id: deploymentId, name, latest_revision_id } = deployment
  const revisionId = latest_revision_id!
  show(`Status and logs: ${pageOf(plane, deployment)}`)
  const { status, reason } = await followRevision(plane, { deploymentId, revisionId }, show)
  const isDeployed = status === 'DEPLOYED'
  const now = await lookUp(plane, name)
  const url = now?.source_config.custom_url ?? null
  if (json) {
    const result = { id: deploymentId, name, revision_id: revisionId, status, reason }
    out(JSON.stringify({ ...result, url: isDeployed ? url : null }))
  } else if (isDeployed) out(`${name} is deployed${url === null ? '' : ` at ${url}`}`)
  else {
    problem(`${name} is not deployed: ${status}${reason === null ? '' : `. ${reason}`}`)
    if (now?.active_revision_id) problem(await stillServing(plane, now))
  }
  return isDeployed ? 0 : 1
}

/** A failed revision changes nothing about the one before. */
async function stillServing(plane: Plane, deployment: Deployment): Promise<string> {
  const { active_revision_id, name, source_config } = deployment
  const active = (await revisionsOf(plane, deployment)).find(({ id }) => id === active_revision_id)
  const what = active ? `Revision ${active.revision_number}` : 'An earlier revision'
  return `${what} of ${name} still serves${source_config.custom_url === null ? '' : ` at ${source_config.custom_url}`}.`
}

/** If the control plane rejects a request, the command ends with 1. */
export async function withErrorsReported(
  { problem }: Terminal,
  work: () => Promise<ExitCode>,
): Promise<ExitCode> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AgentwireError)) throw error
    problem([explain(error), HINTS[error.code]].filter(Boolean).join('\n'))
    return 1
  }
}

/** What to do next, by the code of an error. */
const HINTS: Readonly<Record<string, string>> = {
  unavailable:
    'Start one with “agentwire control-plane”, or pass its URL as --url or AGENTWIRE_CONTROL_PLANE_URL.',
  forbidden: 'Pass the API key of the control plane as AGENTWIRE_API_KEY or --api-key.',
}
