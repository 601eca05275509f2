package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// archive collects documents. Schemas that stand in many documents are kept once.
type archive struct {
	entries map[string][]byte
	schemas map[string][]jsontext.Value // by name; most have one form, some one per group
}

// document is an OpenAPI document of version 3 without the schemas.
type document struct {
	Before  string   `json:"before"`  // what stands before the schemas
	Schemas []string `json:"schemas"` // names, with # and a number where a schema has several forms
	After   string   `json:"after"`
}

// addDocument takes a document apart.
func (a *archive) addDocument(name string, data []byte) error {
	const opening = `"components":{"schemas":{`
	d := &document{}
	before, rest, ok := strings.Cut(string(data), opening)
	if !ok {
		d.Before = string(data)
		return a.addJSON(name, d)
	}
	d.Before = before + opening
	schemas, after, err := a.addSchemas(rest)
	if err != nil {
		return err
	}
	d.Schemas, d.After = schemas, after
	if rebuilt := a.rebuild(d); rebuilt != string(data) {
		return errors.New("the document does not come out of its parts as it was")
	}
	return a.addJSON(name, d)
}

// addSchemas reads the members of an object of schemas, whose opening brace is gone, and
// returns their names and what follows the members.
func (a *archive) addSchemas(text string) (names []string, after string, err error) {
	decoder := jsontext.NewDecoder(strings.NewReader("{" + text))
	if _, err := decoder.ReadToken(); err != nil {
		return nil, "", err
	}
	for decoder.PeekKind() != '}' {
		name, err := decoder.ReadToken()
		if err != nil {
			return nil, "", err
		}
		key := name.String()
		value, err := decoder.ReadValue()
		if err != nil {
			return nil, "", err
		}
		names = append(names, a.addSchema(key, value.Clone()))
	}
	return names, text[decoder.InputOffset()-1:], nil
}

func (a *archive) addSchema(name string, value jsontext.Value) string {
	forms := a.schemas[name]
	i := slices.IndexFunc(forms, func(v jsontext.Value) bool { return bytes.Equal(v, value) })
	if i < 0 {
		i, a.schemas[name] = len(forms), append(forms, value)
	}
	return fmt.Sprintf("%s#%d", name, i)
}

func (a *archive) rebuild(d *document) string {
	var b strings.Builder
	b.WriteString(d.Before)
	for i, ref := range d.Schemas {
		name, form, _ := strings.Cut(ref, "#")
		var n int
		fmt.Sscan(form, &n)
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", name, a.schemas[name][n])
	}
	b.WriteString(d.After)
	return b.String()
}

func (a *archive) addJSON(name string, v any) error {
	data, err := json.Marshal(v, json.Deterministic(true))
	a.entries[name] = data
	return err
}

// bytes returns the archive as a zip file, the same one for the same entries.
func (a *archive) bytes() ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, name := range slices.Sorted(maps.Keys(a.entries)) {
		w, err := z.Create(name)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(a.entries[name]); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
