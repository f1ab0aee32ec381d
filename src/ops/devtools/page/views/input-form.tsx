/** @jsxImportSource preact */
import type { Field } from '../model/form.ts'

interface InputFormProps {
  readonly fields: readonly Field[]
  readonly texts: Readonly<Record<string, string>>
  readonly onText: (name: string, text: string) => void
}

export const InputForm = ({ fields, texts, onText }: InputFormProps) => (
  <div class="input-form">
    {fields.map((field) => (
      <label key={field.name} htmlFor={idOf(field)}>
        <span>
          {field.name} {!field.isRequired && <span class="dim">optional</span>}
          {field.kind === 'json' && <span class="dim">, as JSON</span>}
        </span>
        <Control
          field={field}
          text={texts[field.name] ?? field.initial}
          onText={(text) => onText(field.name, text)}
        />
        {field.description && <span class="small dim">{field.description}</span>}
      </label>
    ))}
  </div>
)

const idOf = ({ name }: Field): string => `input-${name}`

interface ControlProps {
  readonly field: Field
  readonly text: string
  readonly onText: (text: string) => void
}

function Control({ field, text, onText }: ControlProps) {
  const { kind, choices, isRequired } = field
  const shared = {
    id: idOf(field),
    value: text,
    required: isRequired,
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      onText(currentTarget.value),
  }
  switch (kind) {
    case 'choice':
      return (
        <select {...shared}>
          <option value="">–</option>
          {choices.map((choice) => (
            <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
              {String(choice)}
            </option>
          ))}
        </select>
      )
    case 'messages':
    case 'json':
      return <textarea rows={2} class={kind === 'json' ? '' : 'message-field'} {...shared} />
    case 'number':
      return <input type="number" step="any" {...shared} />
    case 'text':
      return <input type="text" {...shared} />
  }
}
