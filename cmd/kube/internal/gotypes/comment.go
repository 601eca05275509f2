package gotypes

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"strings"

	"github.com/go-kube/kube/internal/apidoc"
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
	return apidoc.Description(group.Text())
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
	return apidoc.Description(declared.Doc.Text())
}
