import type { DeployContext, Deployer, Running } from '../../../src/control-plane/deployers/deployer.ts'
import type { Json } from '../../../src/storage/index.ts'

/** What a phase of a scripted deployer does: undefined succeeds, an error fails it, a function may wait. */
type Script = (revisionId: string, signal: AbortSignal) => Promise<void> | void

export interface ScriptedDeployer extends Deployer {
  /** What was called, such as `build r1`. */
  readonly calls: string[]
  /** The revisions whose servers run. */
  readonly servers: Set<string>
  /** The revision that requests go to, by deployment. */
  readonly serving: Map<string, string>
  /** Phases under way, such as `build r1`. */
  readonly underWay: Set<string>
  /** What a phase does; by its name. */
  readonly script: Partial<
    Record<'prepare' | 'build' | 'deploy' | 'promote' | 'stop' | 'recover' | 'destroy', Script>
  >
}

/** A deployer whose servers are entries of a set, so that tests see which of them run and which one serves. */
export function scriptedDeployer({ isHost = false, servers = new Set<string>() } = {}): ScriptedDeployer {
  const calls: string[] = []
  const serving = new Map<string, string>()
  const underWay = new Set<string>()
  const script: ScriptedDeployer['script'] = {}

  async function during<T>(
    phase: keyof typeof script,
    id: string,
    signal: AbortSignal,
    then: () => T,
  ): Promise<T> {
    const call = `${phase} ${id}`
    calls.push(call)
    underWay.add(call)
    try {
      await script[phase]?.(id, signal)
      return then()
    } finally {
      underWay.delete(call)
    }
  }

  const idOf = ({ handle }: Running): string => (handle as { revision: string }).revision
  const start = ({ revisionId }: DeployContext): Running => {
    servers.add(revisionId)
    return { url: `http://127.0.0.1/${revisionId}`, handle: { revision: revisionId } }
  }
  const promote = ({ deploymentId }: DeployContext, running: Running): Running => {
    serving.set(deploymentId, idOf(running))
    return running
  }

  return {
    calls,
    servers,
    serving,
    underWay,
    script,
    refuses: ({ source }) =>
      source === 'internal_template' ? 'Templates are not supported here.' : undefined,
    prepare: (context) =>
      during('prepare', context.revisionId, context.signal, () => {
        context.log(`prepares with ${Object.values(context.secrets).join()}`)
        return { prepared: { source: context.revisionId }, repoCommitSha: `sha of ${context.revisionId}` }
      }),
    build: (context) =>
      during('build', context.revisionId, context.signal, (): Json => {
        context.log('builds')
        return { built: context.revisionId }
      }),
    deploy: (context) => during('deploy', context.revisionId, context.signal, () => start(context)),
    promote: (context, running) =>
      during('promote', context.revisionId, context.signal, () => promote(context, running)),
    stop: (running, { signal }) =>
      during('stop', idOf(running), signal, () => void servers.delete(idOf(running))),
    destroy: ({ deploymentId, signal }) =>
      during('destroy', deploymentId, signal, () => void serving.delete(deploymentId)),
    ...(isHost && {
      recover: (context: DeployContext, running: Running) =>
        during('recover', idOf(running), context.signal, () => {
          servers.add(idOf(running))
          return promote(context, running)
        }),
      close: async () => servers.clear(),
    }),
  }
}

/** Fails where it is told to stop, as a deployer does that ends its programs. */
export const untilAborted = (_: string, signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const fail = () => reject(new Error('The program was ended.'))
    if (signal.aborted) fail()
    else signal.addEventListener('abort', fail)
  })
