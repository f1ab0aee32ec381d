import { describe, expect, test, vi } from 'vitest'
import { DeployError } from '../../../src/control-plane/deployers/errors.ts'
import { scriptedDeployer } from '../support/scripted-deployer.ts'
import { type Answer, created, HOST, type Served, SOURCE, serve, uploadsInto } from '../support/served.ts'

const ANY = '5f0c7d0e-1c2f-4a5b-8c9d-0123456789ab'

/** A deployment with an upload URL. */
async function prepared(served: Served): Promise<{ id: string; url: string; path: string }> {
  const { id } = await created(served, { ...SOURCE, secrets: [] })
  const { body } = await served.ask('POST', `/v2/deployments/${id}/upload-url`)
  return { id, url: body.upload_url, path: body.object_path }
}

const put = (
  served: Served,
  url: string,
  body?: BodyInit,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  served.fetch(
    new Request(url, { method: 'PUT', body: body ?? null, headers, duplex: 'half' } as RequestInit),
  )

test('what was uploaded can be deployed, without an API key for the upload', async () => {
  const served = serve({
    authenticate: (request) => (request.headers.has('x-api-key') ? { id: 'ann' } : null),
  })
  const key = { 'x-api-key': 'k' }
  const create = await served.ask('POST', '/v2/deployments', SOURCE, key)
  const { id } = create.body
  const { status, body } = await served.ask('POST', `/v2/deployments/${id}/upload-url`, undefined, key)
  expect(status).toBe(200)
  expect(body).toEqual({
    upload_url: expect.stringMatching(
      new RegExp(`^${HOST}/v2/deployments/${id}/uploads/[0-9a-f-]{36}\\?expires=\\d+&signature=[\\w-]{43}$`),
    ),
    object_path: expect.stringMatching(new RegExp(`^uploads/${id}/[0-9a-f-]{36}\\.tar\\.gz$`)),
  })
  const uploaded = await served.ask('PUT', body.upload_url, 'a tar.gz', {
    'content-type': 'application/gzip',
    'x-goog-content-length-range': '0,209715200',
    'content-length': '8',
  })
  expect(uploaded).toMatchObject({ status: 200, body: undefined })
  expect(new TextDecoder().decode(served.uploads.get(body.object_path))).toBe('a tar.gz')
  const patched = await served.ask(
    'PATCH',
    `/v2/deployments/${id}`,
    {
      revision_source: 'internal_source',
      source_revision_config: {
        source_tarball_path: body.object_path,
        langgraph_config_path: 'langgraph.json',
      },
    },
    key,
  )
  expect(patched.status).toBe(200)
  expect(patched.body.latest_revision_id).toEqual(expect.any(String))
  expect(patched.body.source_revision_config.source_tarball_path).toBe(body.object_path)
})

test('the URL has the host and the prefix that the client has called', async () => {
  const served = serve({ basePath: '/own' })
  const at = async (
    path: string,
    context: object,
    method: string,
    body?: unknown,
  ): Promise<Answer['body']> => {
    const request = new Request(`http://127.0.0.1:1${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return (await served.fetch(request, context)).json()
  }
  const { id } = await at('/own/v2/deployments', {}, 'POST', SOURCE)
  const path = `/v2/deployments/${id}/upload-url`
  const url = async (...args: Parameters<typeof at>) =>
    (await at(...args)).upload_url.split('?')[0].replace(/[0-9a-f-]{36}$/, '*')
  expect(await url(`/own${path}`, {}, 'POST')).toBe(`http://127.0.0.1:1/own/v2/deployments/${id}/uploads/*`)
  const proxied = { basePath: '/api-host', host: 'control.example.com' }
  expect(await url(`/api-host${path}`, proxied, 'POST')).toBe(
    `http://control.example.com/api-host/v2/deployments/${id}/uploads/*`,
  )
})

describe('a source_tarball_path', () => {
  test.each([
    ['of another deployment', (path: string) => path.replace(/uploads\/[^/]+/, `uploads/${ANY}`)],
    ['with dots', (path: string) => path.replace('uploads/', 'uploads/../uploads/')],
    ['that is absolute', () => '/etc/passwd'],
    ['that nobody was given', (path: string) => path.replace(/[0-9a-f-]{36}\.tar/, `${ANY}.tar`)],
    ['that is empty', () => ''],
  ])('%s is refused', async (_, change) => {
    const served = serve()
    const { id, url, path } = await prepared(served)
    await put(served, url, 'x')
    served.uploads.set(path.replace(/uploads\/[^/]+/, `uploads/${ANY}`), new Uint8Array(1))
    const answer = await served.ask('PATCH', `/v2/deployments/${id}`, {
      source_revision_config: { source_tarball_path: change(path) },
    })
    expect(answer.status).toBe(400)
    expect(answer.body.detail).toContain("must be the 'object_path' of an upload to this deployment")
  })

  test('is refused before something was uploaded', async () => {
    const served = serve()
    const { id, path } = await prepared(served)
    const answer = await served.ask('PATCH', `/v2/deployments/${id}`, {
      source_revision_config: { source_tarball_path: path },
    })
    expect(answer.status).toBe(400)
  })
})

describe('a signature', () => {
  test.each([
    [
      'of another text',
      (url: string) =>
        url.replace(/signature=./, (text) => (text.endsWith('A') ? 'signature=B' : 'signature=A')),
    ],
    ['of another time', (url: string) => url.replace(/expires=\d/, 'expires=9')],
    ['of another upload', (url: string) => url.replace(/uploads\/[0-9a-f-]{36}/, `uploads/${ANY}`)],
    [
      'of another deployment',
      (url: string) => url.replace(/deployments\/[0-9a-f-]{36}/, `deployments/${ANY}`),
    ],
    ['that is empty', (url: string) => url.replace(/signature=.*/, 'signature=')],
  ])('%s is refused', async (_, change) => {
    const served = serve()
    const { url } = await prepared(served)
    const response = await put(served, change(url), 'x')
    expect([response.status, await response.json()]).toEqual([
      403,
      { detail: 'The signature of the upload URL is wrong.' },
    ])
    expect(served.uploads.size).toBe(0)
  })

  test('expires after 15 minutes', async () => {
    const served = serve()
    const { url } = await prepared(served)
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 15 * 60_000 + 1)
    try {
      const response = await put(served, url, 'x')
      expect(response.status).toBe(403)
      expect((await response.json()).detail).toContain('has expired')
    } finally {
      clock.mockRestore()
    }
  })

  test('is needed', async () => {
    const served = serve()
    const { url } = await prepared(served)
    const response = await put(served, url.split('?')[0]!, 'x')
    expect(response.status).toBe(422)
  })
})

describe('the size of an upload', () => {
  /** A body of unknown length. */
  const stream = (...parts: readonly number[]): ReadableStream<Uint8Array> => {
    const left = [...parts]
    return new ReadableStream({
      pull(controller) {
        const size = left.shift()
        if (size === undefined) controller.close()
        else controller.enqueue(new Uint8Array(size))
      },
    })
  }

  test.each([
    ['declared', 'x'.repeat(11), { 'content-length': '11' }, 413, 'larger than 10 bytes'],
    ['as it is', () => stream(6, 6), {}, 413, 'larger than 10 bytes'],
    ['too small', () => stream(1), {}, 400, 'fewer than 2 bytes'],
    ['none', undefined, {}, 400, 'fewer than 2 bytes'],
  ])('%s is held against the range of the client', async (_, body, headers, status, detail) => {
    const served = serve()
    const { url } = await prepared(served)
    const given = typeof body === 'function' ? body() : body
    const response = await put(served, url, given, { 'x-goog-content-length-range': '2,10', ...headers })
    expect(response.status).toBe(status)
    expect((await response.json()).detail).toContain(detail)
    expect(served.uploads.size).toBe(0)
  })

  test('can be all that the range allows', async () => {
    const served = serve()
    const { url, path } = await prepared(served)
    const response = await put(served, url, stream(4, 6), { 'x-goog-content-length-range': '2,10' })
    expect(response.status).toBe(200)
    expect(served.uploads.get(path)).toHaveLength(10)
  })

  test('is at most 200 MB, whatever the range is, and no more is read', async () => {
    const served = serve()
    const { url } = await prepared(served)
    const range = { 'x-goog-content-length-range': '0,99999999999' }
    const declared = await put(served, url, 'x', { ...range, 'content-length': '209715201' })
    expect(declared.status).toBe(413)
    let read = 0
    const endless = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          read += 1
          controller.enqueue(new Uint8Array(1024 * 1024))
        },
      },
      { highWaterMark: 0 },
    )
    const discarding = {
      has: async () => false,
      put: async (_: string, body: ReadableStream<Uint8Array>) =>
        void (await body.pipeTo(new WritableStream())),
    }
    const other = serve({ deployer: { ...scriptedDeployer(), uploads: discarding } })
    const { url: upload } = await prepared(other)
    const response = await put(other, upload, endless, range)
    expect(response.status).toBe(413)
    expect((await response.json()).detail).toBe('The upload is larger than 209715200 bytes.')
    expect(read).toBeLessThan(210)
  })

  test.each(['x', '5,1', '1', '-1,5', '1,2,3'])('%j is no range', async (range) => {
    const served = serve()
    const { url } = await prepared(served)
    const response = await put(served, url, 'x', { 'x-goog-content-length-range': range })
    expect(response.status).toBe(400)
    expect((await response.json()).detail).toContain('must be two numbers of bytes')
  })
})

test('an upload that breaks off is 400, and one that cannot be kept says why', async () => {
  const served = serve()
  const { url } = await prepared(served)
  const broken = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new Error('reset')),
  })
  const response = await put(served, url, broken)
  expect([response.status, await response.json()]).toEqual([
    400,
    { detail: 'The upload ended before it was complete.' },
  ])
  expect(served.errors).toEqual([])

  const full = {
    ...uploadsInto(new Map()),
    put: async () => Promise.reject(new DeployError('There is no room for it.')),
  }
  const other = serve({ deployer: { ...scriptedDeployer(), uploads: full } })
  const refused = await put(other, (await prepared(other)).url, 'x')
  expect([refused.status, await refused.json()]).toEqual([400, { detail: 'There is no room for it.' }])
})

test('there are no upload URLs for other sources, and none without a place for uploads', async () => {
  const served = serve()
  const { id } = await created(served)
  expect(await served.ask('POST', `/v2/deployments/${id}/upload-url`)).toMatchObject({
    status: 400,
    body: { detail: "Upload URLs are only available for 'internal_source' source deployments." },
  })
  const without = serve({ deployer: scriptedDeployer() })
  const { id: other } = await created(without, { ...SOURCE, secrets: [] })
  expect((await without.ask('POST', `/v2/deployments/${other}/upload-url`)).status).toBe(400)
})

describe('a push token', () => {
  const images = { ...SOURCE, source: 'internal_docker', secrets: [] }

  test('comes from the deployer', async () => {
    const pushToken = async ({ name }: { readonly name: string }) => ({
      token: `for ${name}`,
      registryUrl: 'registry.test',
    })
    const served = serve({ deployer: { ...scriptedDeployer(), pushToken } })
    const { id } = await created(served, images)
    expect(await served.ask('POST', `/v2/deployments/${id}/push-token`)).toMatchObject({
      status: 200,
      body: { token: 'for uploaded', registry_url: 'registry.test' },
    })
  })

  test('is only for images that are pushed here, and only with a registry', async () => {
    const served = serve()
    const { id } = await created(served)
    const refused = await served.ask('POST', `/v2/deployments/${id}/push-token`)
    expect(refused.status).toBe(400)
    expect(refused.body.detail).toContain("only available for 'internal_docker' source deployments")
    const { id: empty } = await created(served, images)
    const without = await served.ask('POST', `/v2/deployments/${empty}/push-token`)
    expect(without.status).toBe(400)
    expect(without.body.detail).toContain('no registry')
  })
})
