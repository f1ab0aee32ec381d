import { onTestFinished } from 'vitest'
import { type ControlPlaneOptions, createControlPlaneHandler } from '../../../src/control-plane/index.ts'
import { uploadOfPath } from '../../../src/control-plane/records/uploads/stored.ts'
import { createUploads } from '../../../src/control-plane/records/uploads/uploads.ts'
import type { HandlerContext } from '../../../src/core/http/index.ts'
import { memoryStore } from '../../../src/storage/index.ts'
import { type ScriptedDeployer, scriptedDeployer } from './scripted-deployer.ts'
import { validator } from './validate.ts'

export type Body = Readonly<Record<string, unknown>>

export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers are read as the clients read them, without types
  readonly body: any
  readonly headers: Headers
}

export interface Served {
  readonly fetch: (request: Request, context?: HandlerContext) => Promise<Response>
  /** Sends a request. Fails where the server reports an error, and for an answer that the served document does not have. */
  readonly ask: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Answer>
  readonly deployer: ScriptedDeployer
  /** What was uploaded to this path. */
  readonly uploaded: (path: string) => Promise<string | undefined>
  readonly errors: unknown[]
  /** Does all the work that is due. */
  readonly work: () => Promise<unknown>
  readonly close: () => Promise<void>
}

export const HOST = 'http://control.test'

/** Of the document that the first control plane serves: it depends on no option, and compiling its schemas takes longer than most tests. */
let validate: ReturnType<typeof validator> | undefined

/** A control plane over a scripted deployer, whose work is done when a test says so. */
export function serve(options: Partial<ControlPlaneOptions> = {}): Served {
  const errors: unknown[] = []
  const scripted = scriptedDeployer()
  const { store = memoryStore() } = options
  const plane = createControlPlaneHandler({
    worker: false,
    authenticate: async (request) => ({ id: request.headers.get('x-caller') ?? 'ann' }),
    onError: (error) => errors.push(error),
    deployer: { ...scripted, takesUploads: true },
    ...options,
    store,
  })
  onTestFinished(() => plane.close())
  return {
    fetch: plane.fetch,
    deployer: scripted,
    async uploaded(path) {
      const place = uploadOfPath(path, path.split('/')[1]!)
      const body = place && (await createUploads(store, Date.now).open(place))
      return body && new Response(body).text()
    },
    errors,
    work: plane.reconcile,
    close: plane.close,
    async ask(method, path, body, headers) {
      const request = new Request(new URL(path, HOST), {
        method,
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      })
      const response = await plane.fetch(request)
      validate ??= validator(await (await plane.fetch(new Request(`${HOST}/openapi.json`))).json())
      await validate(method, request.url, response)
      const text = await response.text()
      if (errors.length > 0) throw new Error(`${method} ${path} has failed.`, { cause: errors[0] })
      const { status } = response
      return { status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
    },
  }
}

export const GITHUB = {
  name: 'one',
  source: 'github',
  source_config: { repo_url: 'https://git.test/one.git', deployment_type: 'dev', build_on_push: false },
  source_revision_config: { repo_ref: 'main', langgraph_config_path: 'langgraph.json' },
  secrets: [],
} as const

export const DOCKER = {
  name: 'image',
  source: 'external_docker',
  source_config: { resource_spec: {} },
  source_revision_config: { image_uri: 'registry.test/image:1' },
  secrets: [],
} as const

export const SOURCE = {
  name: 'uploaded',
  source: 'internal_source',
  source_config: { deployment_type: 'dev' },
  source_revision_config: {},
} as const

/** Lists have no order among what was made in the same millisecond. */
export async function nextMillisecond(): Promise<void> {
  for (const start = Date.now(); Date.now() === start; )
    await new Promise((resolve) => setTimeout(resolve, 1))
}

/** A deployment with its first revision, not yet worked on. */
export async function created({ ask }: Served, change: Body = {}): Promise<Answer['body']> {
  const { status, body } = await ask('POST', '/v2/deployments', { ...GITHUB, ...change })
  if (status !== 201) throw new Error(`Not created: ${status} ${JSON.stringify(body)}`)
  await nextMillisecond()
  return body
}
