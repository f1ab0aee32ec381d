#!/usr/bin/env node
import { run } from './run.ts'

run(process.argv.slice(2), {
  env: process.env,
  out: (text) => console.log(text),
  problem: (text) => console.error(text),
}).then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error)
    process.exit(1)
  },
)
