import type { NextConfig } from 'next'

const notInBrowsers = { browser: './lib/not-in-browsers.ts' }

export default {
  poweredByHeader: false,
  reactStrictMode: true,
  // `npm run demo` builds without types, which CI checks by themselves.
  typescript: { ignoreBuildErrors: process.env.DEMO === '1' },
  turbopack: {
    resolveAlias: {
      './transformers.js': notInBrowsers,
      langsmith: notInBrowsers,
      'zod/v4/core': notInBrowsers,
      'langsmith/run_trees': notInBrowsers,
      'langsmith/singletons/traceable': notInBrowsers,
    },
  },
} satisfies NextConfig
