import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import { checkOptions } from '../../../core/options.ts'
import type { Json } from '../../../storage/index.ts'
import {
  type DeployContext,
  DeployError,
  type Deployer,
  type DeploymentContext,
  type PhaseContext,
  type Running,
} from '../deployer.ts'
import {
  COMMAND_DEPLOYER_OPTIONS,
  type CommandDeployerOptions,
  type CommandPhase,
  createRunner,
} from './run-phase.ts'

export type { Deployer } from '../deployer.ts'
export { DeployError } from '../deployer.ts'
export type { CommandDeployerOptions, CommandPhase, Program } from './run-phase.ts'

/**
 * Deploys with your own programs: one for each phase, started without a shell. Each reads one JSON object
 * from stdin and writes lines of JSON to stdout (docs/control-plane.md). You can deploy to any target that a
 * program can control.
 */
export function commandDeployer(options: CommandDeployerOptions): Deployer {
  checkOptions('commandDeployer', options, COMMAND_DEPLOYER_OPTIONS)
  const { prepare, build, promote, sources = ['github', 'external_docker'] } = options
  const run = createRunner(options)

  return {
    refuses: ({ source }) =>
      sources.includes(source)
        ? undefined
        : `This control plane accepts the sources ${sources.map((one) => `"${one}"`).join(', ')}, not "${source}".`,
    ...(prepare && {
      async prepare(context) {
        const given = { phase: 'prepare', ...revisionOf(context) } as const
        const result = await withUpload(context, (upload) => run(prepare, context, { ...given, ...upload }))
        const { prepared = null, repo_commit_sha } = objectOf('prepare', result ?? {})
        if (repo_commit_sha !== undefined && typeof repo_commit_sha !== 'string')
          throw malformed('prepare', 'its "repo_commit_sha" is not a string')
        return { prepared, ...(repo_commit_sha !== undefined && { repoCommitSha: repo_commit_sha }) }
      },
    }),
    ...(build && {
      async build(context) {
        const given = { phase: 'build', ...revisionOf(context), prepared: context.prepared } as const
        const work = (upload: object) => run(build, context, { ...given, ...upload })
        return (await (prepare ? work({}) : withUpload(context, work))) ?? null
      },
    }),
    async deploy(context) {
      const given = { phase: 'deploy', ...deployOf(context) } as const
      const work = (upload: object) => run(options.deploy, context, { ...given, ...upload })
      return runningOf('deploy', await (prepare || build ? work({}) : withUpload(context, work)))
    },
    ...(promote && {
      async promote(context, running) {
        const result = await run(promote, context, { phase: 'promote', ...deployOf(context), running })
        return result === undefined ? running : runningOf('promote', result)
      },
    }),
    async stop(running, context) {
      await run(options.stop, context, { phase: 'stop', ...deploymentOf(context), running })
    },
    async destroy(context) {
      await run(options.destroy, context, { phase: 'destroy', ...deploymentOf(context) })
    },
    takesUploads: sources.includes('internal_source'),
  }
}

/** Passes the path of the revision's upload to the work, as a file that exists until the work ends. */
async function withUpload<T>(
  { source, sourceRevisionConfig, signal, openUpload }: PhaseContext,
  work: (upload: { readonly upload?: string }) => Promise<T>,
): Promise<T> {
  if (source !== 'internal_source') return work({})
  const body = await openUpload(sourceRevisionConfig.source_tarball_path ?? '')
  if (!body) throw new DeployError('The uploaded source no longer exists: upload it again.')
  const folder = await mkdtemp(join(tmpdir(), 'agentwire-upload-'))
  try {
    const upload = join(folder, 'source.tar.gz')
    const packed = Readable.fromWeb(body as NodeReadableStream<Uint8Array>)
    await pipeline(packed, createWriteStream(upload, { mode: 0o600 }), { signal })
    return await work({ upload })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const deploymentOf = ({ deploymentId, name, owner }: DeploymentContext) => ({
  deployment: { id: deploymentId, name, owner },
})

const revisionOf = (context: PhaseContext) => ({
  ...deploymentOf(context),
  revision: { id: context.revisionId, number: context.revisionNumber },
  source: context.source,
  source_config: context.sourceConfig,
  source_revision_config: context.sourceRevisionConfig,
  secret_references: context.secretReferences,
})

const deployOf = (context: DeployContext) => ({
  ...revisionOf(context),
  artifact: context.artifact,
  previous: context.previous ?? null,
})

function runningOf(phase: 'deploy' | 'promote', result: Json | undefined): Running {
  if (result === undefined)
    throw malformed(phase, 'there is none: print {"result": {"url": "http://…", "handle": …}}')
  const { url, handle = null } = objectOf(phase, result)
  if (typeof url !== 'string' || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw malformed(phase, 'its "url" is not a URL of http or https')
  return { url, handle }
}

function objectOf(phase: CommandPhase, result: Json): Readonly<Record<string, Json | undefined>> {
  if (typeof result !== 'object' || result === null || Array.isArray(result))
    throw malformed(phase, 'it is not an object')
  return result as Readonly<Record<string, Json | undefined>>
}

const malformed = (phase: CommandPhase, problem: string): DeployError =>
  new DeployError(`The program of the phase "${phase}" returned an invalid result: ${problem}.`)
