import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach } from 'vitest'
import type {
  DeployContext,
  Deployer,
  LogLevel,
  Running,
} from '../../../../src/control-plane/deployers/deployer.ts'
import type { KubernetesClient } from '../../../../src/control-plane/deployers/kubernetes/client.ts'
import {
  type KubernetesDeployerOptions,
  kubernetesDeployer,
} from '../../../../src/control-plane/deployers/kubernetes/kubernetes.ts'
import type { Json } from '../../../../src/storage/index.ts'
import type { FakeApi } from './fake-api.ts'

export const DEPLOYMENT = '01930000-0000-7000-8000-000000000001'

/** Sends to the fake as the client of a `KubeConfig` does, without one. */
export const clientFor =
  ({ origin }: Pick<FakeApi, 'origin'>): KubernetesClient =>
  (path, request) =>
    fetch(origin + path, request)

/** Deployers that end with the test, with short times. */
export function deployers(): (api: FakeApi, options?: Partial<KubernetesDeployerOptions>) => Deployer {
  const made: Deployer[] = []
  afterEach(async () => {
    for (const deployer of made.splice(0)) await deployer.close!()
  })
  return (api, options = {}) => {
    const times = { drainMs: 0, lookMs: 5, mostLookMs: 20, retryMs: 5, retryForMs: 2_000, ...options.times }
    const deployer = kubernetesDeployer({
      namespace: 'agents',
      client: clientFor(api),
      ...options,
      times,
    })
    made.push(deployer)
    return deployer
  }
}

export interface Revision {
  readonly number: number
  readonly image?: string
  readonly resourceSpec?: DeployContext['sourceConfig']['resource_spec']
  readonly secrets?: Readonly<Record<string, string>>
  readonly secretReferences?: DeployContext['secretReferences']
  readonly previous?: Running | undefined
  /** Of the revision that is deployed again. */
  readonly artifact?: Json | undefined
  readonly signal?: AbortSignal
  readonly name?: string
}

export interface Log {
  readonly lines: { readonly line: string; readonly level: LogLevel | undefined }[]
  readonly text: () => string
}

/** What the control plane gives a phase. */
export function contextOf(revision: Revision): DeployContext & Log {
  const lines: { line: string; level: LogLevel | undefined }[] = []
  return {
    deploymentId: DEPLOYMENT,
    name: revision.name ?? 'Support-Agent',
    owner: null,
    signal: revision.signal ?? new AbortController().signal,
    log: (line, level) => lines.push({ line, level }),
    openUpload: async () => undefined,
    revisionId: `01930000-0000-7000-8000-${String(revision.number).padStart(12, '0')}`,
    revisionNumber: revision.number,
    source: 'external_docker',
    sourceConfig: { resource_spec: revision.resourceSpec ?? {} },
    sourceRevisionConfig: { image_uri: revision.image ?? 'registry.example.com/agents/support:ok' },
    secrets: revision.secrets ?? { OPENAI_API_KEY: 'hunter22' },
    secretReferences: revision.secretReferences ?? [],
    artifact: revision.artifact ?? null,
    previous: revision.previous,
    lines,
    text: () => lines.map(({ line }) => line).join('\n'),
  }
}

/** A revision from its source to the stop of the one before, as the worker has it. */
export async function deployRevision(deployer: Deployer, revision: Revision) {
  const context = contextOf(revision)
  const artifact = revision.artifact ?? (await deployer.prepare!(context)).prepared
  const started = await deployer.deploy({ ...context, artifact })
  const running = await deployer.promote!({ ...context, artifact }, started)
  if (revision.previous) await deployer.stop(revision.previous, context)
  return { running, artifact, context }
}

/** Waits until the fake's timers have come to rest. */
export const settled = () => sleep(60)
