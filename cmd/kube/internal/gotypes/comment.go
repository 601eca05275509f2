package gotypes

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// commentLines writes a description as the lines of a Go comment.
func commentLines(description string) (lines []string) {
	if description == "" {
		return nil
	}
	for line := range strings.SplitSeq(description, "\n") {
		line = strings.Map(printable, strings.TrimRight(line, " \t\r"))
		if line == "" {
			lines = append(lines, "//")
			continue
		}
		lines = append(lines, "// "+line)
	}
	return lines
}

func printable(r rune) rune {
	if r < ' ' && r != '\t' || r == 0x7f || r == '\ufeff' {
		return -1
	}
	return r
}

// fieldComment is what package crd reads from the comment of a field.
func fieldComment(description string) string {
	group := &ast.CommentGroup{}
	for _, line := range commentLines(description) {
		group.List = append(group.List, &ast.Comment{Text: line})
	}
	if len(group.List) == 0 {
		return ""
	}
	return describes(group.Text())
}

// typeComment is what package crd reads from the comment of a type, which gofmt formats.
func typeComment(description string) string {
	lines := commentLines(description)
	if len(lines) == 0 {
		return ""
	}
	source, err := format.Source([]byte("package p\n\n" + strings.Join(lines, "\n") + "\ntype T int\n"))
	if err != nil {
		return ""
	}
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", source, parser.ParseComments)
	if err != nil || len(file.Decls) == 0 {
		return ""
	}
	declared, ok := file.Decls[0].(*ast.GenDecl)
	if !ok || declared.Doc == nil {
		return ""
	}
	return describes(declared.Doc.Text())
}

// describes follows package crd in what of a comment is a description.
func describes(text string) string {
	var lines []string
	inCode := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\n")
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			inCode = !inCode
		}
		if !inCode && strings.HasPrefix(line, "---") {
			break
		}
		if inCode || !strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "TODO") {
			lines = append(lines, line)
		}
	}
	blank := func(line string) bool { return line == "" }
	for len(lines) > 0 && blank(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	lines = slices.CompactFunc(lines, func(a, b string) bool { return blank(a) && blank(b) })
	return strings.Join(lines, "\n")
}
