import { fileURLToPath } from 'node:url'
import type { NextConfig } from 'next'

/** Inside agentwire's repository, where `npm run demo` builds the app. */
const isDemo = process.env.DEMO === '1'
const notInBrowsers = { browser: './lib/not-in-browsers.ts' }
/**
 * `@langchain/react` 1.1.0 has its own copy of the SDK, which keeps the messages of a branch that was left
 * and loses the tokens of an answer. In browsers there is only the app's SDK.
 */
const sdk = `${isDemo ? '../..' : '.'}/node_modules/@langchain/langgraph-sdk/dist`

/** What a message may load without a click: see `isOwnMedia`. */
const CSP = [
  "img-src 'self' data: blob:",
  "media-src 'self' data: blob:",
  "object-src 'none'",
  "base-uri 'self'",
  "form-action 'self'",
].join('; ')

export default {
  headers: async () => [{ source: '/:path*', headers: [{ key: 'Content-Security-Policy', value: CSP }] }],
  poweredByHeader: false,
  reactStrictMode: true,
  env: { DEVTOOLS: isDemo || process.env.NODE_ENV === 'development' ? '1' : '' },
  // Node loads these directly. A bundle would contain a second copy of each, which does not recognize the
  // first one's messages.
  serverExternalPackages: [
    'agentwire',
    'deepagents',
    'langchain',
    '@langchain/core',
    '@langchain/langgraph',
    '@langchain/openai',
    '@langchain/anthropic',
    '@langchain/google-genai',
  ],
  // `npm run demo` builds without type checks, which CI runs separately.
  typescript: { ignoreBuildErrors: isDemo },
  turbopack: {
    ...(isDemo && { root: fileURLToPath(new URL('../..', import.meta.url)) }),
    resolveAlias: {
      '@langchain/langgraph-sdk': { browser: `${sdk}/index.js` },
      '@langchain/langgraph-sdk/client': { browser: `${sdk}/client.js` },
      '@langchain/langgraph-sdk/stream': { browser: `${sdk}/stream/index.js` },
      './transformers.js': notInBrowsers,
      langsmith: notInBrowsers,
      'zod/v4/core': notInBrowsers,
      'langsmith/run_trees': notInBrowsers,
      'langsmith/singletons/traceable': notInBrowsers,
    },
  },
} satisfies NextConfig
