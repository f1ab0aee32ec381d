import { request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, type RequestOptions, request as requestHttps } from 'node:https'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeStream } from 'node:stream/web'

/**
 * Sends a request to the API server, with its credentials. The path starts with `/api` or `/apis`. Resolves
 * with the response, whatever its status, and rejects if there is none.
 */
export type KubernetesClient = (path: string, request: KubernetesRequest) => Promise<Response>

export interface KubernetesRequest {
  readonly method: 'GET' | 'PATCH' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
}

/**
 * The part of a `KubeConfig` from `@kubernetes/client-node` that is used: the cluster and the credentials.
 */
export interface KubeConfigLike {
  getCurrentCluster(): { readonly server: string } | null
  applyToHTTPSOptions(options: object): Promise<void>
}

/**
 * A client for the current cluster of a `KubeConfig`, which is read for each request because credentials
 * expire. The client library's classes are not used: the ones for single resources differ between its
 * versions 1 and 2, and `KubernetesObjectApi` cannot be aborted and drops unknown fields, which the API
 * server has to reject.
 */
export function clientOf(kubeConfig: KubeConfigLike): KubernetesClient {
  return async (path, { method, headers, body, signal }) => {
    const cluster = kubeConfig.getCurrentCluster()
    if (!cluster) throw new Error('The kube config has no current cluster.')
    const url = new URL(cluster.server.replace(/(?<!\/)\/+$/, '') + path)
    const options: RequestOptions = {}
    await kubeConfig.applyToHTTPSOptions(options)
    const isPlain = url.protocol === 'http:'
    // Version 1.0 also sets a TLS agent for clusters without TLS.
    if (isPlain && options.agent instanceof HttpsAgent) delete options.agent
    return new Promise((resolve, reject) => {
      // Node does not announce the body of a DELETE by itself.
      const length = body !== undefined && { 'content-length': Buffer.byteLength(body) }
      const sent = { ...options, method, headers: { ...options.headers, ...headers, ...length }, signal }
      const call = (isPlain ? requestHttp : requestHttps)(url, sent, (answer) => {
        const stream = Readable.toWeb(answer) as NodeStream<Uint8Array> as ReadableStream<Uint8Array>
        const status = answer.statusCode ?? 502
        const hasBody = status >= 200 && status !== 204 && status !== 304
        if (!hasBody) answer.resume()
        const headers = { 'retry-after': answer.headers['retry-after'] ?? '' }
        resolve(new Response(hasBody ? stream : null, { status, headers }))
      })
      call.on('error', reject)
      call.end(body)
    })
  }
}

/** The current cluster of `KUBECONFIG` or `~/.kube/config`, otherwise the one that this process runs in. */
export function defaultClient(): KubernetesClient {
  let loaded: Promise<KubernetesClient> | undefined
  const load = async () => {
    const { KubeConfig } = await import('@kubernetes/client-node')
    const kubeConfig = new KubeConfig()
    kubeConfig.loadFromDefault()
    return clientOf(kubeConfig)
  }
  return async (path, request) => (await (loaded ??= load()))(path, request)
}
