import { describe, expect, test, vi } from 'vitest'
import { scriptedDeployer } from '../support/scripted-deployer.ts'
import { type Answer, created, DOCKER, HOST, type Served, SOURCE, serve } from '../support/served.ts'

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
  expect(await served.uploaded(body.object_path)).toBe('a tar.gz')
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
      headers: { 'content-type': 'application/json' },
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
    const { url, path } = await prepared(served)
    const response = await put(served, change(url), 'x')
    expect([response.status, await response.json()]).toEqual([
      403,
      { detail: 'The signature of the upload URL is invalid.' },
    ])
    expect(await served.uploaded(path)).toBeUndefined()
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
    const { url, path } = await prepared(served)
    const given = typeof body === 'function' ? body() : body
    const response = await put(served, url, given, { 'x-goog-content-length-range': '2,10', ...headers })
    expect(response.status).toBe(status)
    expect((await response.json()).detail).toContain(detail)
    expect(await served.uploaded(path)).toBeUndefined()
  })

  test('can be all that the range allows', async () => {
    const served = serve()
    const { url, path } = await prepared(served)
    const response = await put(served, url, stream(4, 6), { 'x-goog-content-length-range': '2,10' })
    expect(response.status).toBe(200)
    expect(await served.uploaded(path)).toHaveLength(10)
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
    const response = await put(served, url, endless, range)
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

test('an upload that breaks off is 400', async () => {
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
})

test('there are no upload URLs for other sources, and none without a place for uploads', async () => {
  const served = serve()
  const { id } = await created(served, DOCKER)
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

describe('what is kept of uploads', () => {
  const MIB = 1024 * 1024
  const lengthOf = (body: string) => ({ 'content-length': String(body.length) })
  const patch = ({ ask }: Served, id: string, source_tarball_path: string) =>
    ask('PATCH', `/v2/deployments/${id}`, { source_revision_config: { source_tarball_path } })
  /** One more upload to a deployment. */
  async function more(served: Served, id: string, body: string = 'x') {
    const { body: upload } = await served.ask('POST', `/v2/deployments/${id}/upload-url`)
    const response = await put(served, upload.upload_url, body, lengthOf(body))
    const { detail } = response.status === 200 ? { detail: undefined } : await response.json()
    return {
      path: upload.object_path as string,
      url: upload.upload_url as string,
      status: response.status,
      detail,
    }
  }
  const there = async (served: Served, ...paths: readonly string[]) =>
    (await Promise.all(paths.map(served.uploaded))).map((text) => text !== undefined)

  test('another PUT replaces an upload until a revision was made of it', async () => {
    const served = serve()
    const { id, url, path } = await prepared(served)
    expect((await put(served, url, 'first')).status).toBe(200)
    expect((await put(served, url, 'second')).status).toBe(200)
    expect(await served.uploaded(path)).toBe('second')
    expect((await patch(served, id, path)).status).toBe(200)
    const refused = await put(served, url, 'third')
    expect([refused.status, (await refused.json()).detail]).toEqual([
      409,
      'A revision was already created from this upload. Request a new upload URL.',
    ])
    expect(await served.uploaded(path)).toBe('second')
    // A client that was not answered patches again.
    expect((await patch(served, id, path)).status).toBe(200)
  })

  test('while something is sent to a URL, nothing else is', async () => {
    const served = serve()
    const { url, path } = await prepared(served)
    let end = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const slow = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(new Uint8Array(2 * MIB).fill(97))
        await ended
        controller.close()
      },
    })
    const first = put(served, url, slow)
    await expect.poll(async () => (await put(served, url, 'b')).status).toBe(409)
    expect(await served.uploaded(path)).toBeUndefined()
    end()
    expect((await first).status).toBe(200)
    expect(await served.uploaded(path)).toBe('a'.repeat(2 * MIB))
  })

  test('a deployment has so many bytes: the oldest ones that no revision needs make room', async () => {
    const served = serve({ uploads: { deploymentBytes: 3 * MIB } })
    const { id } = await created(served, { ...SOURCE, secrets: [] })
    const one = await more(served, id)
    await patch(served, id, one.path)
    const two = await more(served, id)
    const three = await more(served, id)
    expect(await there(served, one.path, two.path, three.path)).toEqual([true, true, true])
    const four = await more(served, id)
    expect(await there(served, one.path, two.path, three.path, four.path)).toEqual([true, false, true, true])
    expect(await more(served, id, 'x'.repeat(4 * MIB))).toMatchObject({
      status: 413,
      detail: expect.stringContaining('The uploads of this deployment would exceed 3145728 bytes.'),
    })
    expect(await served.uploaded(one.path)).toBe('x')
  })

  test('an owner has so many bytes in all, also where many are sent at once, and others have theirs', async () => {
    const served = serve({ uploads: { ownerBytes: 4 * MIB } })
    const ids = await Promise.all(
      Array.from(
        { length: 8 },
        async (_, index) => (await created(served, { ...SOURCE, name: `d${index}`, secrets: [] })).id,
      ),
    )
    const sent = await Promise.all(ids.map((id) => more(served, id)))
    const kept = sent.filter(({ status }) => status === 200)
    expect(kept.length).toBeLessThanOrEqual(4)
    expect((await there(served, ...sent.map(({ path }) => path))).filter(Boolean)).toHaveLength(kept.length)
    for (const { status, detail } of sent)
      if (status !== 200)
        expect([status, detail]).toEqual([413, expect.stringContaining('of your deployments')])
    const full = new Set<string>(ids.filter((_, index) => sent[index]!.status === 200))
    const empty = ids.filter((id) => !full.has(id))
    while (full.size < 4) {
      const id = empty.pop()!
      expect((await more(served, id)).status).toBe(200)
      full.add(id)
    }
    expect((await more(served, empty[0]!)).status).toBe(413)
    const bob = { 'x-caller': 'bob' }
    const other = await served.ask('POST', '/v2/deployments', { ...SOURCE, secrets: [] }, bob)
    const { body } = await served.ask('POST', `/v2/deployments/${other.body.id}/upload-url`, undefined, bob)
    expect((await put(served, body.upload_url, 'x', lengthOf('x'))).status).toBe(200)
    // A deployment that is deleted makes room.
    await served.ask('DELETE', `/v2/deployments/${[...full][0]}`)
    await served.work()
    expect((await more(served, empty[0]!)).status).toBe(200)
  })

  test('a DELETE removes them, and nothing is uploaded any more', async () => {
    const served = serve()
    const { id } = await created(served, { ...SOURCE, secrets: [] })
    const [one, two] = [await more(served, id), await more(served, id)]
    await patch(served, id, one.path)
    const { body: late } = await served.ask('POST', `/v2/deployments/${id}/upload-url`)
    await served.ask('DELETE', `/v2/deployments/${id}`)
    expect((await put(served, late.upload_url, 'x')).status).toBe(404)
    await served.work()
    expect(await there(served, one.path, two.path)).toEqual([false, false])
    expect((await put(served, late.upload_url, 'x')).status).toBe(404)
  })

  test('what no revision needs is removed after a day, without anybody asking', async () => {
    const served = serve()
    const { id } = await created(served, { ...SOURCE, secrets: [] })
    const [old, serving, waiting] = [await more(served, id), await more(served, id), await more(served, id)]
    for (const { path } of [old, serving]) {
      await patch(served, id, path)
      await served.work()
    }
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 23 * 60 * 60_000)
    try {
      await served.work()
      const paths = [old.path, serving.path, waiting.path]
      expect(await there(served, ...paths)).toEqual([true, true, true])
      clock.mockReturnValue(Date.now() + 2 * 60 * 60_000)
      await served.work()
      expect(await there(served, ...paths)).toEqual([false, true, false])
      clock.mockReturnValue(Date.now() + 48 * 60 * 60_000)
      await served.work()
      expect(await there(served, ...paths)).toEqual([false, true, false])
    } finally {
      clock.mockRestore()
    }
  })
})
