import { checkOptions } from '../../../options.ts'
import type { Json } from '../../../storage/index.ts'
import type { DeployContext, Deployer, DeploymentContext, PhaseContext, Running } from '../deployer.ts'
import { DeployError } from '../errors.ts'
import { COMMAND_DEPLOYER_OPTIONS, type CommandDeployerOptions, type CommandPhase } from './options.ts'
import { createRunner } from './run-phase.ts'
import { withUpload } from './upload.ts'

export type { Deployer } from '../deployer.ts'
export { DeployError } from '../errors.ts'
export type { CommandDeployerOptions, CommandPhase, Program } from './options.ts'

/**
 * Has programs of yours do the work: one for each phase, started without a shell. Each reads one JSON object from its stdin, and tells what
 * it does and comes to in lines of JSON on its stdout (docs/control-plane.md). Whatever can be driven from a program can be deployed to.
 */
export function commandDeployer(options: CommandDeployerOptions): Deployer {
  checkOptions('commandDeployer', options, COMMAND_DEPLOYER_OPTIONS)
  const { prepare, build, promote, sources = ['github', 'external_docker'] } = options
  const run = createRunner(options)

  return {
    refuses: ({ source }) =>
      sources.includes(source)
        ? undefined
        : `This control plane takes the sources ${sources.map((one) => `"${one}"`).join(', ')}, not "${source}".`,
    ...(prepare && {
      async prepare(context) {
        const told = { phase: 'prepare', ...revisionOf(context) } as const
        const result = await withUpload(context, (upload) => run(prepare, context, { ...told, ...upload }))
        const { prepared = null, repo_commit_sha } = objectOf('prepare', result ?? {})
        if (repo_commit_sha !== undefined && typeof repo_commit_sha !== 'string')
          throw malformed('prepare', 'its "repo_commit_sha" is not a string')
        return { prepared, ...(repo_commit_sha !== undefined && { repoCommitSha: repo_commit_sha }) }
      },
    }),
    ...(build && {
      async build(context) {
        const told = { phase: 'build', ...revisionOf(context), prepared: context.prepared } as const
        if (prepare) return (await run(build, context, told)) ?? null
        return (await withUpload(context, (upload) => run(build, context, { ...told, ...upload }))) ?? null
      },
    }),
    async deploy(context) {
      const told = { phase: 'deploy', ...deployOf(context) } as const
      const deploy = (upload: object) => run(options.deploy, context, { ...told, ...upload })
      return runningOf('deploy', await (prepare || build ? deploy({}) : withUpload(context, deploy)))
    },
    ...(promote && {
      async promote(context, running) {
        const told = { phase: 'promote', ...deployOf(context), running } as const
        const result = await run(promote, context, told)
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
  new DeployError(`The result of the program of the phase "${phase}" cannot be used: ${problem}.`)
