import highlighter from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import css from 'highlight.js/lib/languages/css'
import diff from 'highlight.js/lib/languages/diff'
import go from 'highlight.js/lib/languages/go'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import python from 'highlight.js/lib/languages/python'
import rust from 'highlight.js/lib/languages/rust'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'

const LANGUAGES = { bash, css, diff, go, java, javascript, json, python, rust, sql, typescript, xml, yaml }

for (const [name, language] of Object.entries(LANGUAGES)) highlighter.registerLanguage(name, language)

/** The code as HTML, with a span around each highlighted part. Undefined for an unknown language. */
export function highlight(code: string, language: string): string | undefined {
  if (!highlighter.getLanguage(language)) return undefined
  return highlighter.highlight(code, { language, ignoreIllegals: true }).value
}
