import type { DocumentSchema } from './components.ts'
import type { DocumentOperation, DocumentParameter, OpenApiDocument } from './document.ts'
import { type Html, html, raw } from './html.ts'
import { SCRIPT } from './page-script.ts'
import { STYLE } from './page-style.ts'

interface Entry extends DocumentOperation {
  readonly method: string
  readonly path: string
}

/** The page of a document. It shows everything without its script, which filters operations and sends requests. */
export function renderPage({ info, paths, components }: OpenApiDocument, nonce: string): string {
  const entries = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      ...operation,
      path,
      method: method.toUpperCase(),
    })),
  )
  const tags = [...new Set(entries.flatMap((entry) => entry.tags))]
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title}</title>
<link rel="icon" href="data:,">
<style nonce="${nonce}">${raw(STYLE)}</style>
</head>
<body>
<a class="skip" href="#operations">Skip to the operations</a>
<header>
<h1>${info.title} <small>${info.version}</small></h1>
<p>${info.description} <a href="openapi.json">OpenAPI document</a></p>
<div class="tools">
<label>Filter <input id="filter" type="search" placeholder="Path, method or text" autocomplete="off"></label>
<label>X-Api-Key <input id="key" type="password" autocomplete="off" spellcheck="false" aria-describedby="key-note"></label>
<small id="key-note">The key is kept in this page only, and is gone when you leave it.</small>
</div>
<p id="count" role="status"></p>
</header>
<main id="operations">
${tags.map(
  (tag) => html`<section aria-label="${tag}"><h2>${tag}</h2>
${entries.filter((entry) => entry.tags[0] === tag).map(renderOperation)}
</section>`,
)}
<section aria-label="Schemas"><h2>Schemas</h2>
${Object.entries(components.schemas).map(renderSchema)}
</section>
</main>
<script nonce="${nonce}">${raw(SCRIPT)}</script>
</body>
</html>`
  return page.html
}

const renderOperation = (entry: Entry): Html => html`<details class="operation" id="${entry.operationId}">
<summary><b class="${entry.method.toLowerCase()}">${entry.method}</b> <code>${entry.path}</code> <span>${entry.summary}</span></summary>
${entry.description && html`<p>${prose(entry.description)}</p>`}
<form data-method="${entry.method}" data-path="${entry.path}">
${entry.parameters?.map((parameter) => renderParameter(parameter, entry.operationId))}
${entry.requestBody && renderBody(entry)}
<button>Send</button>
<pre class="answer" role="status" aria-label="Answer of ${entry.summary}" tabindex="0" hidden></pre>
</form>
<table><caption>Answers</caption><thead><tr><th scope="col">Status</th><th scope="col">Meaning</th><th scope="col">Body</th></tr></thead>
<tbody>${Object.entries(entry.responses).map(
  ([status, { description, content = {} }]) =>
    html`<tr><th scope="row">${status}</th><td>${description}</td><td>${renderContent(content)}</td></tr>`,
)}</tbody></table>
</details>
`

function renderParameter(
  { name, in: place, required, description, schema }: DocumentParameter,
  id: string,
): Html {
  const isList = someOf(schema).type === 'array'
  const note = `${place}${required ? ', required' : ''}`
  return html`<label for="${id}-${name}"><span><code>${name}</code> <small>${note}, ${typeOf(schema)}</small></span>
<input id="${id}-${name}" name="${name}" data-in="${place}" ${required ? raw('required') : ''} ${isList ? raw('data-list') : ''} placeholder="${isList ? 'Separated by commas' : textOf(schema.default)}" autocomplete="off" spellcheck="false">
${description && html`<small>${prose(description)}</small>`}</label>
`
}

function renderBody({ requestBody, operationId }: Entry): Html {
  const [content] = Object.values(requestBody?.content ?? {})
  return html`<label for="${operationId}-body"><span>Body <small>${requestBody?.required ? 'required' : 'optional'}, ${content && typeOf(content.schema)}</small></span>
<textarea id="${operationId}-body" name="body" data-in="body" rows="6" spellcheck="false" placeholder="{ }"></textarea></label>
`
}

const renderContent = (
  content: Readonly<Record<string, { readonly schema: DocumentSchema }>>,
): readonly Html[] =>
  Object.entries(content).map(([type, { schema }]) =>
    type === 'application/json' ? typeOf(schema) : html`<code>${type}</code>`,
  )

const renderSchema = ([name, schema]: readonly [
  string,
  DocumentSchema,
]): Html => html`<details id="schema-${name}">
<summary><code>${name}</code></summary>
${schema.description && html`<p>${prose(schema.description)}</p>`}
<table><thead><tr><th scope="col">Member</th><th scope="col">Type</th></tr></thead>
<tbody>${Object.entries(schema.properties ?? {}).map(
  ([member, value]) =>
    html`<tr><th scope="row"><code>${member}</code></th><td>${typeOf(value)}${schema.required?.includes(member) ? ', required' : ''}${renderNote(value)}</td></tr>`,
)}</tbody></table>
</details>
`

function renderNote(schema: DocumentSchema): Html | undefined {
  const description = schema.description ?? someOf(schema).description
  return description === undefined ? undefined : html`<br><small>${prose(description)}</small>`
}

/** A text in which what stands between backticks is code. */
const prose = (text: string): readonly Html[] =>
  text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))

/** A type in words, with links to the schemas it names. */
function typeOf(schema: DocumentSchema): Html {
  const { $ref, anyOf, items, additionalProperties } = schema
  if ($ref) {
    const name = $ref.slice($ref.lastIndexOf('/') + 1)
    return html`<a href="#schema-${name}">${name}</a>`
  }
  if (anyOf) return html`${anyOf.map((one, index) => html`${index > 0 ? ' or ' : ''}${typeOf(one)}`)}`
  if (schema.enum)
    return html`${schema.enum.map((value, index) => html`${index > 0 ? ', ' : ''}<code>${value}</code>`)}`
  if (schema.const !== undefined) return html`<code>${schema.const}</code>`
  if (items) return html`list of ${typeOf(items)}`
  if (typeof additionalProperties === 'object') return html`map of ${typeOf(additionalProperties)}`
  const { minimum, maximum, format, type = 'anything' } = schema
  const range = minimum === undefined && maximum === undefined ? '' : ` ${minimum ?? ''}…${maximum ?? ''}`
  const preset = schema.default === undefined ? '' : `, default ${textOf(schema.default)}`
  return html`${format ?? type}${range}${preset}`
}

/** The schema without its null. */
const someOf = (schema: DocumentSchema): DocumentSchema => schema.anyOf?.[0] ?? schema

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
