import { expectTypeOf, test } from 'vitest'
import * as z from 'zod/mini'
import { type Operation, route } from '../../../src/control-plane/api/route.ts'
import * as t from '../../../src/control-plane/wire/common.ts'
import type { Json } from '../../../src/storage/index.ts'

test('the type of a schema is that of its values, also with notes', () => {
  const uuid = t.described(t.UUID, 'An id.')
  expectTypeOf<z.output<typeof uuid>>().toEqualTypeOf<string>()
  const kind = t.described(z.literal('k8s'), 'A kind.')
  expectTypeOf<z.output<typeof kind>>().toEqualTypeOf<'k8s'>()
  const one = t.described(z.enum(['a', 'b']), 'One of both.')
  expectTypeOf<z.output<typeof one>>().toEqualTypeOf<'a' | 'b'>()
  expectTypeOf<z.output<typeof t.JSON_OBJECT>>().toEqualTypeOf<{ [name: string]: Json | undefined }>()
})

test('a member is there if it is required or has a default, and null only where that is declared', () => {
  const schema = t.titled('Thing', {
    required: t.STRING,
    preset: z._default(t.INTEGER, 1),
    presetNull: z._default(z.nullable(t.STRING), null),
    optional: z.nullish(t.list(z.object({ x: z.optional(z.literal(1)) }))),
  })
  type Value = z.output<typeof schema>
  expectTypeOf<Value['required']>().toEqualTypeOf<string>()
  expectTypeOf<Value['preset']>().toEqualTypeOf<number>()
  expectTypeOf<Value['presetNull']>().toEqualTypeOf<string | null>()
  expectTypeOf<NonNullable<Value['optional']>[number]['x']>().toEqualTypeOf<1 | undefined>()
  expectTypeOf<{ required: string; preset: number; presetNull: null }>().toExtend<Value>()
  expectTypeOf<{ preset: number; presetNull: null }>().not.toExtend<Value>()
})

test('an operation knows its input by its declaration', () => {
  const declared = route('POST', '/a/:one/b/:two', {
    summary: 'S',
    tag: 'T',
    params: z.object({ two: t.INTEGER }),
    query: z.object({ limit: z._default(t.INTEGER, 1) }),
    answers: { 204: null },
    run: async (_, { params, query, body }) => {
      expectTypeOf(params).toEqualTypeOf<{ readonly one: string; readonly two: number }>()
      expectTypeOf(query.limit).toEqualTypeOf<number>()
      expectTypeOf(body).toEqualTypeOf<undefined>()
      return {}
    },
  })
  expectTypeOf(declared).toEqualTypeOf<Operation>()
})
