import type { Json } from '../../../storage/index.ts'
import { maskSecrets } from '../../secrets/mask.ts'
import type { DeploymentContext, PhaseContext } from '../deployer.ts'
import { DeployError } from '../errors.ts'
import { runCommand, scrubbedEnv } from '../run-command.ts'
import type { CommandDeployerOptions, CommandPhase, Program } from './options.ts'
import { createOutput, MOST_OF_LINE } from './output.ts'

/** What a program reads from its stdin, but for the secrets: its phase, and what that is about. */
export interface Told {
  readonly phase: CommandPhase
  readonly revision?: { readonly id: string; readonly number: number }
  readonly [member: string]: unknown
}

/** Runs the program of a phase, and gives its result. Rejects with a `DeployError` where it failed. */
export type RunPhase = (
  program: Program,
  context: DeploymentContext & Partial<Pick<PhaseContext, 'secrets'>>,
  told: Told,
) => Promise<Json | undefined>

export function createRunner(options: CommandDeployerOptions): RunPhase {
  const { secretsFor = ['deploy'], cwd = process.cwd(), env, graceMs = 10_000 } = options
  return async (program, context, told) => {
    const { deploymentId, name, signal, log, secrets = {} } = context
    const isTrusted = (secretsFor as readonly CommandPhase[]).includes(told.phase)
    const output = createOutput(log)
    const ended = await runCommand({
      command: program,
      cwd,
      env: {
        ...scrubbedEnv(process.env),
        ...env,
        AGENTWIRE_PHASE: told.phase,
        AGENTWIRE_DEPLOYMENT_ID: deploymentId,
        AGENTWIRE_DEPLOYMENT_NAME: name,
        AGENTWIRE_REVISION_ID: told.revision?.id,
      },
      input: `${JSON.stringify({ ...told, ...(isTrusted && { secrets }) })}\n`,
      onLine: (line, stream) => (stream === 'stdout' ? output.read(line) : log(line)),
      maxLineBytes: MOST_OF_LINE,
      graceMs,
      signal,
    })
    const error = output.error()
    // A line of the log is masked by whoever writes it; an error is not.
    const mask = maskSecrets(Object.values(secrets))
    if (error !== undefined)
      throw new DeployError(`The program of the phase "${told.phase}" failed: ${mask(error)}`)
    if (ended.code !== 0) {
      const how = ended.code === null ? `was ended by ${ended.signal}` : `exited with code ${ended.code}`
      throw new DeployError(`The program of the phase "${told.phase}" ${how}.`)
    }
    return output.result()
  }
}
