import * as z from 'zod/mini'
import { AgentwireError } from '../../../core/errors.ts'
import { type HttpError, publicBase } from '../../../core/http/index.ts'
import { uuid7 } from '../../../core/ids.ts'
import { route, tagged } from '../../api/route.ts'
import type { ControlPlaneContext } from '../../context.ts'
import { noDeployment, refusal } from '../../errors.ts'
import { isLeaving } from '../../records/create-deployments.ts'
import { loadDeployment } from '../../records/stored.ts'
import { pathOf, uploadOfPath } from '../../records/uploads/stored.ts'
import * as t from '../../wire/common.ts'
import { DEPLOYMENTS_TAG } from '../../wire/deployment.ts'
import { onDeployment } from '../on-deployment.ts'

/** How long an upload can be started, in milliseconds. */
const LIFETIME_MS = 15 * 60_000

/** The signed text starts with its purpose, so that no other signature is valid for an upload. */
const signedText = (deploymentId: string, uploadId: string, expires: number): string =>
  `upload ${deploymentId} ${uploadId} ${expires}`

const NO_UPLOADS = 'This server does not accept uploads: its deployer does not store them.'

export const uploadOperations = tagged(DEPLOYMENTS_TAG, [
  onDeployment('POST', '/v2/deployments/:deployment_id/upload-url', {
    summary: 'Create Upload URL',
    description: 'A URL that takes the source as one PUT of a tar.gz, without an API key, for 15 minutes.',
    answers: {
      200: t.titled('UploadUrl', {
        upload_url: t.STRING,
        object_path: t.STRING,
      }),
    },
    errors: [400, 404],
    run: async ({ id, source }, { call }, context) => {
      // A revision may have its own source, except in deployments of images that others have built.
      if (source === 'external_docker' || source === 'internal_template') {
        throw refusal(400, "Upload URLs are only available for 'internal_source' source deployments.")
      }
      if (!context.deployer.takesUploads) throw refusal(400, NO_UPLOADS)
      const uploadId = uuid7(context.now())
      const expires = context.now() + LIFETIME_MS
      const signature = await context.secrets.sign(signedText(id, uploadId, expires))
      const path = `/v2/deployments/${id}/uploads/${uploadId}?expires=${expires}&signature=${signature}`
      return {
        body: { upload_url: publicBase(call) + path, object_path: pathOf({ deploymentId: id, uploadId }) },
      }
    },
  }),
  /** Public: the signed URL is the permission to upload. */
  route('PUT', '/v2/deployments/:deployment_id/uploads/:upload_id', {
    summary: 'Upload Source',
    description:
      'The URL is that of the answer of `upload-url`. `X-Goog-Content-Length-Range` narrows the size that is taken.',
    params: z.object({ deployment_id: t.UUID, upload_id: t.UUID }),
    query: z.object({ expires: t.integer({ minimum: 0 }), signature: t.STRING }),
    answers: { 200: null },
    errors: [400, 403, 404, 409, 413],
    isPublic: true,
    run: async (context, { params, query, call: { request } }) => {
      const { deployment_id: id, upload_id } = params
      const { expires, signature } = query
      if (!(await context.secrets.verify(signedText(id, upload_id, expires), signature)))
        throw refusal(403, 'The signature of the upload URL is invalid.')
      if (expires < context.now()) throw refusal(403, 'The upload URL has expired. Request a new one.')
      if (!context.deployer.takesUploads) throw refusal(400, NO_UPLOADS)
      const deployment = (await loadDeployment(context.store, id))?.record
      if (!deployment || isLeaving(deployment)) throw noDeployment(id)
      const bounded = boundedUpload(request, sizesOf(request.headers))
      try {
        const key = { deploymentId: id, uploadId: upload_id }
        await context.uploads.put(key, deployment.owner, bounded.bytes, bounded.body)
      } catch (error) {
        if (bounded.refusal()) throw bounded.refusal()
        if (error instanceof AgentwireError || !bounded.isBroken()) throw error
        throw refusal(400, 'The upload ended before it was complete.', { cause: error })
      }
      return { body: null }
    },
  }),
  onDeployment('POST', '/v2/deployments/:deployment_id/push-token', {
    summary: 'Create Push Token',
    description:
      'A token for pushing images to the registry of this server, as the user `oauth2accesstoken`.',
    answers: { 200: t.titled('PushToken', { token: t.STRING, registry_url: t.STRING }) },
    errors: [400, 404],
    run: async ({ id, name, owner, source, latestRevisionId }, { call }, context) => {
      if (source !== 'internal_docker') {
        throw refusal(400, "Push tokens are only available for 'internal_docker' source deployments.")
      }
      if (!context.deployer.pushToken) {
        throw refusal(400, 'This server does not issue push tokens: its deployer has no registry.')
      }
      const { token, registryUrl } = await context.deployer.pushToken({
        deploymentId: id,
        name,
        owner,
        signal: call.signal ?? new AbortController().signal,
        log: (message, level = 'INFO') =>
          context.logs.append(
            { type: 'deploy', deploymentId: id },
            { at: context.now(), level, message, revisionId: latestRevisionId ?? '' },
          ),
      })
      return { body: { token, registry_url: registryUrl } }
    },
  }),
])

export const NOT_UPLOADED =
  "'source_revision_config.source_tarball_path' must be the 'object_path' of an upload to this deployment: get one with POST /v2/deployments/{deployment_id}/upload-url, and upload first."

/** Whether something was uploaded to this path of this deployment. After this call, it cannot be replaced. */
export async function takeUpload(
  { uploads }: ControlPlaneContext,
  deploymentId: string,
  path: string,
): Promise<boolean> {
  const key = uploadOfPath(path, deploymentId)
  return key !== undefined && uploads.take(key)
}

/** The largest upload, in bytes. */
const MAX_BYTES = 209_715_200

interface Sizes {
  readonly min: number
  readonly max: number
}

/** The accepted sizes: those of the server, narrowed by the header. Throws 400 for an invalid range. */
function sizesOf(headers: Headers): Sizes {
  const range = headers.get('x-goog-content-length-range')
  if (range === null) return { min: 1, max: MAX_BYTES }
  const [, min, max] = /^\s*(\d{1,15})\s*,\s*(\d{1,15})\s*$/.exec(range) ?? []
  if (min === undefined || Number(min) > Number(max)) {
    throw refusal(400, 'X-Goog-Content-Length-Range must be two numbers of bytes, such as 0,209715200.')
  }
  return { min: Math.max(1, Number(min)), max: Math.min(MAX_BYTES, Number(max)) }
}

/**
 * A request's body, which fails if its size is not allowed or differs from the declared one. Throws
 * immediately if the headers already show it.
 */
function boundedUpload({ headers, body }: Request, { min, max: allowed }: Sizes) {
  const declared = headers.get('content-length')
  const max = Math.min(allowed, Number(declared ?? allowed))
  const tooLarge = () => refusal(413, `The upload is larger than ${allowed} bytes.`)
  const tooSmall = () => refusal(400, `The upload has fewer than ${min} bytes.`)
  if (declared !== null && Number(declared) > allowed) throw tooLarge()
  if (body === null || (declared !== null && Number(declared) < min)) throw tooSmall()
  let length = 0
  let reason: HttpError | undefined
  let broken = false
  const reader = body.getReader()
  const bounded = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const fail = (error: HttpError) => {
          reason = error
          controller.error(error)
          reader.cancel(error).catch(() => {}) // The response tells the client.
        }
        try {
          const { done, value } = await reader.read()
          if (done) {
            if (length < min) return fail(tooSmall())
            return controller.close()
          }
          length += value.byteLength
          if (length > max) return fail(tooLarge())
          controller.enqueue(value)
        } catch (error) {
          broken = true
          controller.error(error)
        }
      },
      cancel: (cause) => reader.cancel(cause),
    },
    { highWaterMark: 0 },
  )
  return {
    /** The maximum size. */
    bytes: max,
    body: bounded,
    /** Why the upload was aborted, if it was. */
    refusal: () => reason,
    /** Whether the client has aborted it. */
    isBroken: () => broken,
  }
}
