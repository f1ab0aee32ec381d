import { Client } from '@langchain/langgraph-sdk'
import { expect, test } from 'vitest'
import { readConfig } from '../../src/cli/serve/config.ts'
import { commandLine, GRAPH, write } from './projects.ts'

const { project, serve } = commandLine()

const files = {
  'graph.js': GRAPH,
  'ui.tsx': `
import './ui.css'
const Card = ({ city }: { city: string }) => <b>{'Weather for ' + city}</b>
export default { card: Card }
`,
  'ui.css': '.of-the-card { color: red }',
}
const config = { graphs: { agent: './graph.js:graph' }, ui: { 'my-agent': './ui.tsx' } }

const tags = (url: string, name: string, body: string, headers: Record<string, string> = {}) =>
  fetch(`${url}/ui/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })

test.each(['', '/api'])(
  'components are bundled and loaded by tags (prefix %j)',
  { timeout: 240_000 },
  async (prefix) => {
    const { told } = await serve(
      project({ ...files, 'langgraph.json': { ...config, http: { mount_prefix: prefix } } }),
    )
    const { url } = told
    expect(told.unsupported).toEqual([])
    const client = new Client({ apiUrl: url })
    const text = await client['~ui'].getComponent('my-agent', 'card')
    const place = `${url}/ui/my-agent/entrypoint`
    expect(text.split('\n')).toEqual([
      `<link rel="stylesheet" href="${place}.css" />`,
      `<script src="${place}.js" onload='__LGUI_my_agent.render("card", "{{shadowRootId}}")'></script>`,
    ])
    const script = await fetch(`${place}.js`)
    expect(script.headers.get('content-type')).toContain('text/javascript')
    expect(await script.text()).toContain('Weather for ')
    const style = await fetch(`${place}.css`)
    expect(style.headers.get('content-type')).toContain('text/css')
    expect(await style.text()).toContain('.of-the-card')

    expect(await (await tags(url, 'my-agent', `{"name":"it's <b>"}`)).text()).toContain(
      `render("it&#39;s &lt;b>", `,
    )
    expect((await tags(url, 'my-agent', '{"name":1}')).status).toBe(400)
    expect((await tags(url, 'other', '{"name":"card"}')).status).toBe(404)
    expect((await fetch(`${url}/ui/my-agent/ui.tsx`)).status).toBe(404)
    expect((await fetch(`${url}/ui/my-agent/..%2f..%2flanggraph.json`)).status).toBe(404)
  },
)

test('components need what auth asks for', { timeout: 240_000 }, async () => {
  const auth = `
import { Auth } from '@langchain/langgraph-sdk/auth'
export const auth = new Auth().authenticate(async (request) => {
  if (request.headers.get('x-api-key') !== 'a') throw new Error('nobody')
  return { identity: 'ann', permissions: [] }
})
`
  const { origin } = await serve(
    project({ ...files, 'auth.js': auth, 'langgraph.json': { ...config, auth: { path: './auth.js:auth' } } }),
  )
  expect((await tags(origin, 'my-agent', '{"name":"card"}')).status).not.toBe(200)
  expect((await tags(origin, 'my-agent', '{"name":"card"}', { 'x-api-key': 'a' })).status).toBe(200)
})

test('a mistake in a component is 500, until it is mended', { timeout: 240_000 }, async () => {
  const folder = project({ ...files, 'ui.tsx': 'export default {', 'langgraph.json': config })
  const { origin, output } = await serve(folder)
  expect((await tags(origin, 'my-agent', '{"name":"card"}')).status).toBe(500)
  await output(/could not serve the components of ui/)
  write(folder, { 'ui.tsx': files['ui.tsx'] })
  expect((await tags(origin, 'my-agent', '{"name":"card"}')).status).toBe(200)
})

test('without its bundler the section is told as not supported', async () => {
  const folder = project(
    { 'graph.js': 'export const graph = {}', 'langgraph.json': config },
    { packages: false },
  )
  const { ui, unsupported } = readConfig(`${folder}/langgraph.json`)
  expect(ui.bundler).toBeUndefined()
  expect(unsupported).toEqual(['ui: install @langchain/langgraph-ui to serve its components.'])
})
