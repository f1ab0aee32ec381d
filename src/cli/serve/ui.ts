import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  type Authenticate,
  type Call,
  createHandler,
  HttpError,
  publicBase,
  type WebHandler,
} from '../../core/http/index.ts'
import type { Config } from './config.ts'

interface Bundler {
  build(options: {
    readonly cwd: string
    readonly defs: Readonly<Record<string, string>>
    readonly config: { readonly shared: readonly string[] }
    readonly output: string
  }): Promise<void>
}

/** A bundle's files, by name. */
type Bundle = ReadonlyMap<string, Uint8Array<ArrayBuffer>>

interface UiOptions {
  readonly bundler: string
  readonly authenticate: Authenticate | undefined
}

/**
 * The components that a project shows on its clients' pages, at the routes of LangGraph's own server:
 * `POST /ui/{name}` returns the tags that load a component, `GET /ui/{name}/{file}` its files. The first
 * request bundles all of them.
 */
export function uiHandler(config: Pick<Config, 'folder' | 'ui'>, options: UiOptions): WebHandler {
  let bundling: Promise<ReadonlyMap<string, Bundle>> | undefined
  const bundleOf = async ({ params }: Call): Promise<Bundle> => {
    bundling ??= bundle(config, options.bundler)
    bundling.catch(() => {
      bundling = undefined
    })
    const found = (await bundling).get(params.name!)
    if (found) return found
    throw new HttpError(404, 'not_found', `UI not found for agent ${JSON.stringify(params.name)}`)
  }
  return createHandler({
    authenticate: options.authenticate,
    onError: (error) => console.error('agentwire: could not serve the components of ui.', error),
    routes: [
      ['POST', '/ui/:name', async (call) => html(await tagsOf(call, await bundleOf(call)))],
      ['GET', '/ui/:name/:file', async (call) => fileOf(call, await bundleOf(call)), 'asset'],
    ],
  })
}

/** The bundler writes files: there is no other way to learn that it has finished. */
async function bundle({ folder, ui }: Pick<Config, 'folder' | 'ui'>, bundler: string) {
  const output = await mkdtemp(join(tmpdir(), 'agentwire-ui-'))
  try {
    const { build } = (await import(pathToFileURL(bundler).href)) as Bundler
    await build({ cwd: folder, defs: ui.files, config: { shared: ui.shared }, output })
    const bundles = Object.keys(ui.files).map(async (name) => {
      return [name, await readBundle(join(output, 'public', name))] as const
    })
    return new Map(await Promise.all(bundles))
  } finally {
    await rm(output, { recursive: true, force: true })
  }
}

async function readBundle(folder: string): Promise<Bundle> {
  const files = (await readdir(folder)).map(async (file) => {
    return [file, new Uint8Array(await readFile(join(folder, file)))] as const
  })
  return new Map(await Promise.all(files))
}

/**
 * The tags that a page inserts for a component. The page replaces `{{shadowRootId}}` with the id of its
 * element.
 */
async function tagsOf(call: Call, bundle: Bundle): Promise<string> {
  const { name: component } = Object((await call.json()) ?? {}) as { readonly name?: unknown }
  if (typeof component !== 'string')
    throw new HttpError(400, 'invalid_argument', 'name: expected a string, the name of a component.')
  const name = call.params.name!
  const place = `${publicBase(call)}/ui/${encodeURIComponent(name)}`
  const render = `__LGUI_${name.replace(/[^a-zA-Z0-9]/g, '_')}.render(${JSON.stringify(component)}, "{{shadowRootId}}")`
  const files = [...bundle.keys()].map((file) => ({ ending: extname(file), url: `${place}/${file}` }))
  return [
    ...files
      .filter(({ ending }) => ending === '.css')
      .map(({ url }) => `<link rel="stylesheet" href="${url}" />`),
    ...files
      .filter(({ ending }) => ending === '.js')
      .map(({ url }) => `<script src="${url}" onload='${inQuotes(render)}'></script>`),
  ].join('\n')
}

/** The text of an attribute in single quotes. */
const inQuotes = (text: string): string =>
  text.replace(/&/g, '&amp;').replace(/'/g, '&#39;').replace(/</g, '&lt;')

const html = (text: string): Response => new Response(text, { headers: { 'content-type': 'text/html' } })

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.map': 'application/json',
}

function fileOf({ params }: Call, bundle: Bundle): Response {
  const contents = bundle.get(params.file!)
  if (!contents) throw new HttpError(404, 'not_found', 'File not found')
  const type = TYPES[extname(params.file!)] ?? 'application/octet-stream'
  return new Response(contents, { headers: { 'content-type': type } })
}
