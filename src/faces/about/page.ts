import type { ServerAbout } from './about.ts'

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem}pre{background:#8882;padding:1rem;overflow-x:auto}:root{color-scheme:light dark}'

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character]!)

/** The page at the root of a mount, for a person who opens it in a browser. */
export function pageOf({ agents, doors, devtools }: ServerAbout, url: string): string {
  const list = (items: readonly string[]) => `<ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`
  const hasRest = doors.some(({ path }) => path === '/runs')
  const body = JSON.stringify({
    assistant_id: agents[0],
    input: { messages: [{ role: 'user', content: 'Hello' }] },
  })
  const curl = `curl ${url}/runs/wait -H 'content-type: application/json' -d '${body.replaceAll("'", String.raw`\u0027`)}'`
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>agentwire</title>
<style>${STYLE}</style>
<h1>agentwire</h1>
<h2>Agents</h2>
${list(agents.map((name) => `<code>${escaped(name)}</code>`))}
${devtools ? `<p><a href="${escaped(url)}/devtools">Devtools</a></p>\n` : ''}<h2>Protocols</h2>
${list(doors.map(({ name, path }) => `${name}: <code>${escaped(url + path)}</code>`))}
${agents.length > 0 && hasRest ? `<h2>Call an agent</h2>\n<pre>${escaped(curl)}</pre>\n` : ''}</html>
`
}

/** Nothing but the style may load or run. */
export const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
