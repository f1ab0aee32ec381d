/** Writes the code that the marks of the pages name into their fences: `npm run docs:snippets`. */
import { writeFileSync } from 'node:fs'
import { filled, pages, read } from './fences.ts'

for (const path of pages) {
  const before = read(path)
  const after = filled(before)
  if (after === before) continue
  writeFileSync(path, after)
  console.log(`written: ${path}`)
}
