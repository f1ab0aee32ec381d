import { fileURLToPath } from 'node:url'
import type { NextConfig } from 'next'

/** Inside of the repository of agentwire, where `npm run demo` builds the app. */
const isDemo = process.env.DEMO === '1'
const notInBrowsers = { browser: './lib/not-in-browsers.ts' }

export default {
  poweredByHeader: false,
  reactStrictMode: true,
  // Node loads these as they are. In a bundle there would be two of each, which do not know each other's messages.
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
  // `npm run demo` builds without types, which CI checks by themselves.
  typescript: { ignoreBuildErrors: isDemo },
  turbopack: {
    ...(isDemo && { root: fileURLToPath(new URL('../..', import.meta.url)) }),
    resolveAlias: {
      './transformers.js': notInBrowsers,
      langsmith: notInBrowsers,
      'zod/v4/core': notInBrowsers,
      'langsmith/run_trees': notInBrowsers,
      'langsmith/singletons/traceable': notInBrowsers,
    },
  },
} satisfies NextConfig
