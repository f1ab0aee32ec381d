import type { TestProject } from 'vitest/node'
import { build } from '../../../examples/chat/demo/build.ts'
import { executablePath } from '../../kit/browser.ts'
import { startChat } from './app.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The origin of the chat that all tests of the page share. Empty where there is no browser. */
    chatOrigin: string
  }
}

/** Builds the app once for all tests of the page, unless it is built already, and starts it. */
export default async function setup({ provide }: TestProject): Promise<(() => Promise<unknown>) | undefined> {
  if (executablePath === undefined && process.env.CI !== '1') {
    console.warn('No chromium on the path: the browser tests of the chat are skipped.')
    provide('chatOrigin', '')
    return undefined
  }
  await build(console.log, new AbortController().signal)
  const { origin, program } = await startChat()
  provide('chatOrigin', origin)
  return () => {
    program.child.kill('SIGTERM')
    return program.exit
  }
}
